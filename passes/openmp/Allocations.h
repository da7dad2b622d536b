// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where arrays get their memory: calls that return fresh memory, whose pages
// have no node yet, and the memory's position relative to other arrays.

#pragma once

#include "base/LLVM.h"
#include "llvm/IR/InstrTypes.h"
#include <cstdint>
#include <optional>

namespace mpg {

/// The size of the memory is count * bytes.
struct Allocation {
  CallBase *call;
  Value *bytes;
  Value *count;  ///< calloc's first operand; null: 1
  Value *result; ///< where the pointer is stored: posix_memalign; or null
  bool isZeroed; ///< calloc
};

/// The memory that \p call allocates: malloc, calloc, aligned_alloc, memalign,
/// valloc, posix_memalign, operator new. Flang's allocate is a malloc. Nothing
/// for realloc, and for mpg_alloc_onnode and others that choose the node.
std::optional<Allocation> findAllocation(CallBase &call);

/// Whether \p call gives memory back, or another size to it; which.
Value *freedBy(const CallBase &call);
Value *reallocatedBy(const CallBase &call);

/// Bytes after a place that is not known; those of one area can be compared.
struct ArrayPlace {
  const void *area;
  uint64_t bytes;
};

/// The positions of arrays relative to each other, as far as the compiler
/// knows: variables of one file are consecutive in .bss or .data, and each
/// large block of malloc has separate pages.
class ArrayPlaces {
public:
  explicit ArrayPlaces(const Module &module);

  /// The place of \p origin's memory: a variable, or a call that allocates. Any
  /// other origin gets a separate area. Correct modulo \p wayBytes, a power of
  /// two.
  ArrayPlace getPlace(const Value &origin, uint64_t wayBytes) const;

private:
  DenseMap<const GlobalVariable *, ArrayPlace> variables;
};

} // namespace mpg
