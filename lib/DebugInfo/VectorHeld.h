// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which halves of vector registers of x86-64 have a value. Compilers store two
// pointers side by side at once: movq, punpcklqdq, movups.

#ifndef MPG_DEBUGINFO_VECTORHELD_H
#define MPG_DEBUGINFO_VECTORHELD_H

#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <cstdint>
#include <optional>

namespace mpg {

class VectorHeld {
public:
  struct Store {
    size_t operand;   ///< the byte of the instruction that names the memory
    bool hasHighBase; ///< its register is one from 8 on
    int64_t skipped;  ///< bytes of the memory in front of the value
  };
  /// Reads the instruction at the start of \p code. \p held: general registers
  /// with the value, a bit for each by DWARF's numbers. \returns where it
  /// stores the value; none: it does not.
  std::optional<Store> step(llvm::ArrayRef<uint8_t> code, uint32_t held);
  void forget() { halves = {}; }
  bool any() const;

private:
  std::array<uint8_t, 32> halves = {}; ///< bit 0: the lower one
};

} // namespace mpg

#endif // MPG_DEBUGINFO_VECTORHELD_H
