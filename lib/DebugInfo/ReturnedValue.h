// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows the value that a call returns through the code after it: to the
// registers that have it, and to the memory that gets it. Registers have
// DWARF's numbers.

#ifndef MPG_DEBUGINFO_RETURNEDVALUE_H
#define MPG_DEBUGINFO_RETURNEDVALUE_H

#include "DebugInfo/Dwarf.h"

namespace mpg {

/// A place in memory that an instruction writes or reads.
struct MemoryPlace {
  uint64_t at = 0;      ///< address of the instruction
  uint64_t validAt = 0; ///< of a store: address behind it; of a load: at
  uint64_t address = 0; ///< 0: beside a register
  int base = -1;
  int64_t offset = 0;
  /// Bytes from the canonical address of the function's frame, if it is there.
  std::optional<int64_t> fromFrame;
  /// Bytes from what a register had when the function began; none: not known.
  struct FromEntry {
    int number;
    int64_t offset;
  };
  std::optional<FromEntry> fromEntry;
  /// Where the base was read from; null: not known.
  std::shared_ptr<MemoryPlace> baseFrom;
};

struct ReturnedValue {
  bool isKnown = false;            ///< the code was read
  std::vector<MemoryPlace> stores; ///< in the order of the code
  /// The instruction that keeps it soon in a member or a global variable.
  std::optional<uint64_t> keptAt;
  /// From an address on: the registers that have the value, a bit for each.
  std::vector<std::pair<uint64_t, uint32_t>> held;
  /// Whether the register has the value where the instruction at \p address
  /// begins.
  bool isHeld(uint64_t address, unsigned number) const;
  /// Where the call's first argument points to.
  std::optional<MemoryPlace> argument;
};

/// A store in so many bytes of code after a call names the value before others.
constexpr uint64_t soonAfterCall = 96;

/// Follows the value that a call has returned to \p address.
ReturnedValue followReturned(DwarfFile &dwarf, uint64_t address);

} // namespace mpg

#endif // MPG_DEBUGINFO_RETURNEDVALUE_H
