// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds arrays that one thread initialises and all threads use, tells about
// them, and puts their pages where they are used. docs/first-touch.md is the
// user's side of it. It works on a whole module that is simplified, but not yet
// vectorised: loops then still look like the source's.

#ifndef MPG_PASSES_FIRSTTOUCHPASS_H
#define MPG_PASSES_FIRSTTOUCHPASS_H

#include "llvm/IR/PassManager.h"

namespace mpg {

class FirstTouchPass : public llvm::PassInfoMixin<FirstTouchPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &analyses);
};

} // namespace mpg

#endif // MPG_PASSES_FIRSTTOUCHPASS_H
