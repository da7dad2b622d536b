// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What differs between x86-64 and AArch64 when code is searched for the uses of
// a function: how an instruction names an address, what a linkage stub looks
// like, which register holds the first argument. Everything else about calls is
// the same and lives in CodeScan.cpp.

#ifndef MPG_CODE_MACHINECODE_H
#define MPG_CODE_MACHINECODE_H

#include "Code/CodeMemory.h"
#include "Code/Instruction.h"
#include <memory>
#include <vector>

namespace mpg {

/// Addresses that somebody looks for, each list in ascending order.
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

  /// The slot through which the stub at the start of \p piece jumps, or 0.
  virtual uint64_t slotOfStub(CodePiece piece) const = 0;
};

std::unique_ptr<MachineCode> makeX86Code();
std::unique_ptr<MachineCode> makeAArch64Code();

} // namespace mpg

#endif // MPG_CODE_MACHINECODE_H
