// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop becomes the inner one of two: each round of the outer one does some of
// its iterations, so that something can happen once in a round.

#pragma once

#include "base/LLVM.h"
#include "llvm/IR/IRBuilder.h"

namespace mpg {

struct LoopRounds {
  BasicBlock *begin; ///< of each round, header of the outer loop
  BasicBlock *next;  ///< after each round, its latch
};

/// Divides \p loop, which has a preheader, ends by a branch in its latch alone
/// and runs \p times times. \p count computes the iterations of a round, 1 to
/// those that are left, in front of each. All analyses of the function are
/// stale then.
LoopRounds
divideLoop(Loop &loop, Value *times,
           function_ref<Value *(IRBuilder<> &builder, Value *left)> count);

/// Whether \p loop, which may be null, is one of rounds.
bool isRounds(const Loop *loop);

/// How many iterations are left when a round of \p rounds begins: a PHI node.
Value *getLeft(const Loop &rounds);

/// How many iterations a round of \p rounds does.
Value *getNow(const Loop &rounds);

/// \p start, of a round of \p rounds, which has a preheader, in the first one.
const SCEV *getFirstStart(const SCEV *start, const Loop &rounds,
                          ScalarEvolution &scev);

} // namespace mpg
