// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the initialisation of an array parallel: its iterations run on the
// threads that will work on the array, so each page lands on the node of its
// user by being written first. Done only where it is proven, partly at run
// time, that the program computes the same, bit for bit: the serial loop stays,
// for what is small (a team costs more), for arrays that turn out to overlap,
// and inside parallel regions.
//
// Whether the loop should be parallel is the caller's question, not ours.

#ifndef MPG_PASSES_PARALLELINIT_H
#define MPG_PASSES_PARALLELINIT_H

#include "openmp/TeamLoop.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class Loop;
class MemSetInst;
} // namespace llvm

namespace mpg {

/// Runs the iterations of \p loop on an OpenMP team. Values of \p share must be
/// there in front of the loop. Returns "" when done: no analysis of the
/// function is valid any more, and \p loop is gone with them. Otherwise the
/// reason, of the form "it calls rand"; the code then does what it did, and its
/// dominators, loops and evolutions are kept up to date.
std::string parallelise(llvm::Loop &loop, const LoopShare &share,
                        llvm::FunctionAnalysisManager &analyses);

/// The same for a memset: iteration i stands for \p bytesPerIteration bytes
/// from i times that many on, the last one for those that are left. An integer,
/// unsigned; with 0 at run time the memset stays serial.
std::string parallelise(llvm::MemSetInst &memset,
                        llvm::Value &bytesPerIteration, const LoopShare &share,
                        llvm::FunctionAnalysisManager &analyses);

} // namespace mpg

#endif // MPG_PASSES_PARALLELINIT_H
