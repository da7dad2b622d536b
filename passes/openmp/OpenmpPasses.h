// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes about OpenMP programs: first touch, and remarks about causes of
// slow parallel code. Both work on a whole module that is simplified but not
// yet vectorised: loops then still resemble the source's.

#ifndef MPG_PASSES_OPENMPPASSES_H
#define MPG_PASSES_OPENMPPASSES_H

#include "llvm/IR/PassManager.h"

namespace mpg {

/// Finds arrays that one thread initialises and all threads use, reports them,
/// and places their pages where they are used. docs/first-touch.md is the
/// user's page.
class FirstTouchPass : public llvm::PassInfoMixin<FirstTouchPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &analyses);
};

//===----------------------------------------------------------------------===//
// What slows parallel code down
//===----------------------------------------------------------------------===//
//
// Remarks about other causes than the placement of memory: cache lines that
// threads take from each other, arrays that share a set of the L1 cache, loops
// with too few iterations for a team, regions with too little work, and memory
// of brk. The code stays unchanged.
//
// Reports regions with hardly any work, and regions that a library's function
// starts when a region calls it. Skips those with an if clause or num_threads,
// whose author has considered it, and those with work unknown at compile time.

/// Wants code that is simplified, but neither vectorised nor unrolled. Costs
/// nothing when no remarks are asked for.
class ParallelRemarksPass : public llvm::PassInfoMixin<ParallelRemarksPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &analyses);
};

} // namespace mpg

#endif // MPG_PASSES_OPENMPPASSES_H
