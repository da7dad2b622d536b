// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what the user said about first touch for a variable or a function to the
// allocations that it is about, in code that no pass has changed yet: what is
// stored in the variable, directly, through casts, ?: and local variables, or
// by a call that gets the variable's address (posix_memalign, Fortran's
// allocate). A call of a function that allocates is as good as an allocation;
// what that function does inside is not looked at.

#ifndef MPG_PASSES_TOUCHMARKER_H
#define MPG_PASSES_TOUCHMARKER_H

#include "hints/HintRequest.h"
#include "llvm/IR/PassManager.h"

namespace mpg {

/// Marks what the touches of \p requests mean, as FirstTouchChoice.h reads it.
/// What they cannot be about is warned about. The addresses that stood for
/// fields in \p requests, and are about nothing else, are erased. Returns
/// whether \p module changed.
bool markTouches(llvm::Module &module, const HintRequests &requests);

/// When what a function calls has been inlined into it, and before it is itself
/// inlined: gives the allocations that have come, as those of std::vector, what
/// was said for the function, and the calloc that has become of a malloc and a
/// memset what was said for the malloc.
class TouchKeeperPass : public llvm::PassInfoMixin<TouchKeeperPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

} // namespace mpg

#endif // MPG_PASSES_TOUCHMARKER_H
