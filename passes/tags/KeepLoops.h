// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps loops that copy or fill through a hinted pointer from becoming calls of
// memcpy or memset, in which no hint can be said. The store gets !nontemporal
// while loops are recognised, which is how LLVM says "leave this store a
// store", and loses it before the vectoriser.

#ifndef MPG_PASSES_KEEPLOOPS_H
#define MPG_PASSES_KEEPLOOPS_H

#include "llvm/IR/PassManager.h"

namespace mpg {

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

} // namespace mpg

#endif // MPG_PASSES_KEEPLOOPS_H
