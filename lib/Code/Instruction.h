// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one machine instruction means to somebody who follows one general
// register: how long it is, where control goes next, which registers it writes.
// Nothing else is decoded: no mnemonics, no operands, no flags.
//
// Where a decoder is not sure it says that every register is written, which
// makes the follower give up. It never says that a register is kept, or zero,
// when it is not.

#ifndef MPG_CODE_INSTRUCTION_H
#define MPG_CODE_INSTRUCTION_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace mpg {

enum class Flow : uint8_t {
  next,   ///< goes on with the next instruction
  branch, ///< or at `target`
  jump,   ///< at `target`, or somewhere unknown
  call,   ///< a function runs in between, which may never return
  stop,   ///< returns, traps, or is not an instruction
  entry, ///< goes on, and says that it is reached from elsewhere (endbr64, bti)
};

/// Registers are bits 0 to 31: the x86-64 encoding order (rax 0, rdi 7), or
/// x0 to x30 of AArch64.
struct Instruction {
  uint64_t address = 0;
  uint64_t target = 0; ///< of a direct branch, jump or call; else 0
  uint64_t memory = 0; ///< address named relative to the next instruction, or 0
  uint32_t writes = 0; ///< registers that may be changed, in whole or in part
  uint32_t zeroes = 0; ///< those of them that are 0 afterwards
  int8_t copyTo = -1;  ///< this register becomes `copyFrom`, in 32 or 64 bits
  int8_t copyFrom = -1; ///< also the register that a jump goes to
  bool indexes = false; ///< adds two registers: to a result or for a jump
  uint8_t bytes = 0;    ///< 0: these bytes are no instruction
  Flow flow = Flow::stop;

  uint64_t end() const { return address + bytes; }
  bool valid() const { return bytes != 0; }
};

constexpr uint32_t allRegisters = ~0U;

/// Decodes the instruction at the start of \p code, which is at \p address.
/// Covers what compilers emit for x86-64, up to AVX-512; `bytes` is 0 for
/// anything else and when \p code ends too early.
Instruction decodeX86(llvm::ArrayRef<uint8_t> code, uint64_t address);

/// The same for AArch64, where every word is 4 bytes long and valid.
Instruction decodeAArch64(uint32_t word, uint64_t address);

} // namespace mpg

#endif // MPG_CODE_INSTRUCTION_H
