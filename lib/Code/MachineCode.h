// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What differs between x86-64 and AArch64 when code is searched for the uses of
// a function: how an instruction names an address, what a linkage stub looks
// like, which register holds the first argument. Everything else about calls is
// the same and lives in CodeScan.cpp.

#ifndef MPG_CODE_MACHINECODE_H
#define MPG_CODE_MACHINECODE_H

#include "Code/CodeMemory.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <memory>
#include <vector>

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

/// Addresses that are looked for, each list in ascending order.
struct WantedAddresses {
  std::vector<uint64_t> slots; ///< of the global offset table: data
  std::vector<uint64_t> stubs; ///< entry points of linkage stubs
  std::vector<uint64_t> paths; ///< instructions on which no branch may land
};

/// Neighbouring addresses, which are searched for together.
struct AddressSpan {
  static constexpr uint64_t maxBytes = 512;

  uint64_t first, last;
};

/// Adds \p addresses, in ascending order, to \p spans.
void addSpans(std::vector<AddressSpan> &spans,
              llvm::ArrayRef<uint64_t> addresses);

/// Whether \p address is in \p sorted.
bool containsAddress(llvm::ArrayRef<uint64_t> sorted, uint64_t address);

/// Bytes of code that name a wanted address, or may.
struct AddressUse {
  uint64_t address; ///< in the instruction, not always its start
  uint64_t target;
};

class MachineCode {
public:
  virtual ~MachineCode() = default;

  /// The register of the first argument, and those that a call keeps.
  virtual unsigned argumentRegister() const = 0;
  virtual uint32_t keptByCalls() const = 0;

  /// The instructions of \p piece by address. Decoding starts at its front, so
  /// on x86-64 the first few may be wrong, as what precedes them is not known.
  virtual std::vector<Instruction> decode(CodePiece piece) const = 0;

  /// Calls \p found for everything in \p piece, a window of \p memory, that
  /// names a wanted address. What it finds may be a coincidence.
  virtual void search(const CodeMemory &memory, CodePiece piece,
                      const WantedAddresses &wanted,
                      llvm::function_ref<void(AddressUse)> found) const = 0;

  /// When \p use is the jump of a linkage stub through its slot, the addresses
  /// at which that stub may be entered; else nothing. \p known says that only
  /// stubs are expected there; otherwise it must be told from a function that
  /// does the same.
  virtual std::vector<uint64_t>
  stubEntries(const CodeMemory &memory, AddressUse use, bool known) const = 0;

  /// The call or jump to what the load at the start of \p piece has read, when
  /// nothing else can read it; 0 if there is none.
  virtual uint64_t callOfLoaded(CodePiece piece) const {
    (void)piece;
    return 0;
  }

  /// The slot through which the stub at the start of \p piece jumps, or 0.
  virtual uint64_t slotOfStub(CodePiece piece) const = 0;
};

std::unique_ptr<MachineCode> makeX86Code();
std::unique_ptr<MachineCode> makeAArch64Code();

} // namespace mpg

#endif // MPG_CODE_MACHINECODE_H
