// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where arrays will lie relative to each other, as far as the compiler knows:
// variables of one file follow each other in .bss or .data, and each large
// block of malloc has pages of its own.

#ifndef MPG_PASSES_ARRAYPLACES_H
#define MPG_PASSES_ARRAYPLACES_H

#include "llvm/ADT/DenseMap.h"
#include <cstdint>

namespace llvm {
class GlobalVariable;
class Module;
class Value;
} // namespace llvm

namespace mpg {

/// Bytes behind a place that is not known; those of one area can be compared.
struct ArrayPlace {
  const void *area;
  uint64_t bytes;
};

class ArrayPlaces {
public:
  explicit ArrayPlaces(const llvm::Module &module);

  /// Of the memory that \p origin is: a variable, or a call that allocates. Any
  /// other has an area for itself. Right modulo \p wayBytes, a power of two.
  ArrayPlace placeOf(const llvm::Value &origin, uint64_t wayBytes) const;

private:
  llvm::DenseMap<const llvm::GlobalVariable *, ArrayPlace> variables;
};

} // namespace mpg

#endif // MPG_PASSES_ARRAYPLACES_H
