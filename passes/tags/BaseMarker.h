// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remembers, in front of the vectoriser, through which bases all accesses have
// the same mark. Passes behind it make new accesses out of old ones and forget
// the marks (a masked load that takes over what a select chose from, for one);
// the base tells what they were.

#ifndef MPG_PASSES_BASEMARKER_H
#define MPG_PASSES_BASEMARKER_H

#include "llvm/IR/PassManager.h"

namespace mpg {

class BaseMarkerPass : public llvm::PassInfoMixin<BaseMarkerPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

/// Marks the accesses of \p function that have lost theirs.
void restoreMarks(llvm::Function &function);

} // namespace mpg

#endif // MPG_PASSES_BASEMARKER_H
