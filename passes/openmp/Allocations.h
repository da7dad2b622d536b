// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that return fresh memory, of which no page has its place yet.

#ifndef MPG_PASSES_ALLOCATIONS_H
#define MPG_PASSES_ALLOCATIONS_H

#include "llvm/IR/InstrTypes.h"
#include <optional>

namespace mpg {

/// The size of the memory is count * bytes.
struct Allocation {
  llvm::CallBase *call;
  llvm::Value *bytes;
  llvm::Value *count;  ///< calloc's first operand; null: 1
  llvm::Value *result; ///< where the pointer is stored: posix_memalign; or null
  bool isZeroed;       ///< calloc
};

/// malloc, calloc, aligned_alloc, memalign, valloc, posix_memalign, operator
/// new: what \p call allocates. Flang's allocate is a malloc. Nothing for
/// realloc, and for mpg_alloc_onnode and its like, which say where memory lies.
std::optional<Allocation> allocationOf(llvm::CallBase &call);

/// Whether \p call gives memory back, or another size to it; which.
llvm::Value *freedBy(const llvm::CallBase &call);
llvm::Value *reallocatedBy(const llvm::CallBase &call);

} // namespace mpg

#endif // MPG_PASSES_ALLOCATIONS_H
