// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes how single instructions of x86-64 and AArch64 handle pointers: they
// move them between registers and memory, add constants to them, make a frame.
// Earlier instructions have no effect here; ReturnedValue.cpp follows values
// through several. Registers have DWARF's numbers.

#ifndef MPG_DEBUGINFO_DATAMOVES_H
#define MPG_DEBUGINFO_DATAMOVES_H

#include "Code/MachineCode.h"
#include "Elf/Image.h"
#include <optional>

namespace mpg {

/// How functions of a machine call each other.
struct Convention {
  bool isX86;
  int stack, frame, argument; ///< registers
  int64_t atEntry; ///< bytes from the stack to the frame's canonical address
  uint32_t keptByCalls, arguments; ///< registers, a bit for each
};

/// Of a function's result: rax, x0.
constexpr unsigned resultRegister = 0;

/// Null: code of \p machine is not read.
const Convention *findConvention(Machine machine);

/// The instruction at the start of \p code, which is at \p address.
Instruction decodeNext(const Convention &machine, llvm::ArrayRef<uint8_t> code,
                       uint64_t address);

/// One instruction that moves 64 bits between a register and memory.
struct Move {
  bool isLoad;
  int value, base;
  int64_t offset;
  bool isAbsolute; ///< relative to the instruction: its address is known
};

/// The effect of an instruction; most have one of these, or none.
struct DataEffect {
  std::optional<Move> move;
  /// A register gets another one plus a constant: as a load from that address.
  std::optional<Move> sum;
  /// A load or store that moves its base, too: that, as a sum.
  std::optional<Move> writeBack;
  struct Constant {
    int to;
    uint64_t address;
  };
  std::optional<Constant> constant;
  int64_t pushed = 0; ///< bytes by which the stack goes down
  /// The frame's register becomes the stack's plus that.
  std::optional<int64_t> frame;
};

/// The effect of \p next, at the start of \p code. \p held: the registers with
/// the returned value; of a pair that is stored the one among them counts.
DataEffect decodeEffect(const Convention &machine, llvm::ArrayRef<uint8_t> code,
                        const Instruction &next, uint32_t held);

/// The memory that \p operand, the byte with the operands and what follows it,
/// names without an index, as of a store.
std::optional<Move> decodeMemoryX86(llvm::ArrayRef<uint8_t> operand,
                                    bool hasHighBase, bool isRelative);

/// Whether \p code begins with an instruction that only fills the way to the
/// next block.
bool isPadding(const Convention &machine, llvm::ArrayRef<uint8_t> code);

} // namespace mpg

#endif // MPG_DEBUGINFO_DATAMOVES_H
