// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes about OpenMP programs: first touch, and remarks about what slows
// parallel code down. Both work on a whole module that is simplified, but not
// yet vectorised: loops then still look like the source's.

#ifndef MPG_PASSES_OPENMPPASSES_H
#define MPG_PASSES_OPENMPPASSES_H

#include "llvm/IR/PassManager.h"

namespace mpg {

/// Finds arrays that one thread initialises and all threads use, tells about
/// them, and puts their pages where they are used. docs/first-touch.md is the
/// user's side of it.
class FirstTouchPass : public llvm::PassInfoMixin<FirstTouchPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &analyses);
};

//===----------------------------------------------------------------------===//
// What slows parallel code down
//===----------------------------------------------------------------------===//
//
// Besides where its memory lies: cache lines that threads take from each other,
// arrays that meet in one set of the L1 cache, loops with too few iterations
// for a team, regions with too little work, and memory of brk. Each is told as
// a remark; the code stays as it is.
//
// Of regions those are told that have hardly any work, and those that a
// library's function starts when it is called from a region; not those with an
// if clause or num_threads, whose author has thought of it, nor those whose
// work is not known at compile time.

/// Wants code that is simplified, but neither vectorised nor unrolled. Costs
/// nothing when no remarks are asked for.
class ParallelRemarksPass : public llvm::PassInfoMixin<ParallelRemarksPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &analyses);
};

} // namespace mpg

#endif // MPG_PASSES_OPENMPPASSES_H
