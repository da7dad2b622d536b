// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What marked accesses need on their way through the optimiser: that the loops
// which they stand in stay loops, and that a mark which a pass forgets is found
// again.

#ifndef MPG_PASSES_KEEPMARKS_H
#define MPG_PASSES_KEEPMARKS_H

#include "llvm/IR/PassManager.h"

namespace mpg {

/// Keeps loops that copy or fill through a hinted pointer from becoming calls
/// of memcpy or memset, in which no hint can be said. The store gets
/// !nontemporal while loops are recognised, which is how LLVM says "leave this
/// store a store", and loses it before the vectoriser.
class KeepLoopsPass : public llvm::PassInfoMixin<KeepLoopsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

/// Takes off what KeepLoopsPass put on, with a remark for each loop that would
/// have been lost.
class ReleaseLoopsPass : public llvm::PassInfoMixin<ReleaseLoopsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

/// Remembers, in front of the vectoriser, through which bases all accesses have
/// the same mark. Passes after it make new accesses out of old ones and forget
/// the marks (a masked load that takes over what a select chose from, for one);
/// the base tells what they were.
class BaseMarkerPass : public llvm::PassInfoMixin<BaseMarkerPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

/// Marks the accesses of \p function that have lost theirs.
void restoreMarks(llvm::Function &function);

} // namespace mpg

#endif // MPG_PASSES_KEEPMARKS_H
