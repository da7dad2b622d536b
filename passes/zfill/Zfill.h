// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --mpg-zfill: a store to a line that is in no cache first reads the line from
// memory. For stores that overwrite whole lines the reading is waste, and DC
// ZVA makes it unnecessary: it puts a line of zeros into L2. HW:a64fx-zero-fill
//
// The loop becomes the inner one of two. Rounds of the outer one zero lines
// while those are wholly among what the rest of the loop overwrites; its last
// round does the iterations that are left. It does all of them if the arrays
// fit into the caches, if the machine has other blocks, or if the loop is
// short. A copy of the loop would take code generation as long as the loop
// itself.
//
// Rules, each with a test that breaks it on purpose (ZfillRule):
//
//   the loop runs a number of iterations known before it, and nothing in it can
//   leave it sooner, or lets another thread see the memory in between
//   every iteration stores, and the stores of one leave no gap before the next
//   nothing in the loop reads a byte of them before it is stored
//   a counter shorter than an address does not wrap, which is asked before it
//   lines are zeroed ahead of all stores of the iteration, and up to the last
//   whole line that this loop overwrites: a team's threads share no such line
//
// Must be after all optimisations, which would not know what DC ZVA writes.

#pragma once

#include "base/StagePass.h"

namespace mpg {

struct PassOptions;
struct StreamLoop;

// The rounds (ZfillLoop.cpp)

/// The smallest block of `auto`, which zeroes in such steps.
constexpr unsigned smallLineBytes = 64;

/// Puts a loop with DC ZVA around \p loop. \returns why not, or null; then all
/// analyses of the function are stale.
const char *writeZfillLoop(Loop &loop, const StreamLoop &known,
                           FunctionAnalysisManager &analyses,
                           const PassOptions &options);

/// The address whose line \p instruction zeroes, or would on AArch64; null: it
/// is no DC ZVA of ours.
Value *zeroedAddress(const Instruction &instruction);

/// Iterations of \p loop in a round that zeroes; 0: no rounds are around it.
unsigned getZeroedRound(const Loop &loop);

/// How many of \p rounds zero, the first ones; null: none.
Value *getZeroingRounds(const Loop &rounds);

// The pass (ZfillPass.cpp)

struct ZfillPass : StagePass<ZfillPass> {
  using StagePass::StagePass;
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &analyses);
};

} // namespace mpg
