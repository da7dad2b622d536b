// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop becomes the inner one of two: each round of the outer one does some of
// its iterations, so that something can happen once in a round.

#ifndef MPG_PASSES_LOOPROUNDS_H
#define MPG_PASSES_LOOPROUNDS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace llvm {
class BasicBlock;
class Loop;
class SCEV;
class ScalarEvolution;
class Value;
} // namespace llvm

namespace mpg {

struct LoopRounds {
  llvm::BasicBlock *begin; ///< of each round, header of the outer loop
  llvm::BasicBlock *next;  ///< after each round, its latch
};

/// Divides \p loop, which has a preheader, ends by a branch in its latch alone
/// and runs \p times times. \p count computes the iterations of a round, 1 to
/// those that are left, in front of each. All analyses of the function are
/// stale then.
LoopRounds
divideLoop(llvm::Loop &loop, llvm::Value *times,
           llvm::function_ref<llvm::Value *(llvm::IRBuilder<> &builder,
                                            llvm::Value *left)>
               count);

/// Whether \p loop, which may be null, is one of rounds.
bool isRounds(const llvm::Loop *loop);

/// How many iterations are left when a round of \p rounds begins: a PHI node.
llvm::Value *getLeft(const llvm::Loop &rounds);

/// How many iterations a round of \p rounds does.
llvm::Value *getNow(const llvm::Loop &rounds);

/// \p start, of a round of \p rounds, which has a preheader, in the first one.
const llvm::SCEV *getFirstStart(const llvm::SCEV *start,
                                const llvm::Loop &rounds,
                                llvm::ScalarEvolution &scev);

} // namespace mpg

#endif // MPG_PASSES_LOOPROUNDS_H
