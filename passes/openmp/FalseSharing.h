// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// False sharing: threads that write to different elements in one cache line
// take the line from each other at every write. Two forms are found: elements
// that are chosen by the thread's number, and loops that deal out neighbouring
// elements to different threads.
//
// Not told: what a thread writes once and not again and again (its result at
// the end, a sum that the compiler keeps in a register), and memory of the
// thread's own.

#ifndef MPG_PASSES_FALSESHARING_H
#define MPG_PASSES_FALSESHARING_H

#include "base/Diagnostics.h"
#include "llvm/IR/PassManager.h"

namespace mpg {

/// Emits FalseSharing remarks for \p function.
void remarkFalseSharing(llvm::Function &function,
                        llvm::FunctionAnalysisManager &analyses,
                        RemarkPlaces &places);

} // namespace mpg

#endif // MPG_PASSES_FALSESHARING_H
