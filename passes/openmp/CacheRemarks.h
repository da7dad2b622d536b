// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two remarks about lines of the caches.
//
// False sharing: threads that write to different elements in one cache line
// take the line from each other at every write. Two forms are found: elements
// that are chosen by the thread's number, and loops that deal out neighbouring
// elements to different threads. Not told: what a thread writes once and not
// again and again (its result at the end, a sum that the compiler keeps in a
// register), and memory of the thread's own.
//
// Crowded sets: arrays that a loop walks through together and that begin at
// equal places modulo a way of the L1 data cache, so that all their lines go
// into the same set. With more of them than the cache has ways, each throws out
// lines that the loop still needs. Sizes that are powers of two are what brings
// this about. Up to as many arrays as there are ways fit, so three or four of
// them are no mistake on A64FX. Rows of one array count like arrays: they are
// no better off.

#ifndef MPG_PASSES_CACHEREMARKS_H
#define MPG_PASSES_CACHEREMARKS_H

#include "base/Diagnostics.h"
#include "openmp/Allocations.h"
#include "openmp/Sampler.h"
#include "llvm/IR/PassManager.h"

namespace mpg {

/// Emits FalseSharing remarks for \p function.
void remarkFalseSharing(llvm::Function &function,
                        llvm::FunctionAnalysisManager &analyses,
                        RemarkPlaces &places);

/// An innermost loop and its accesses that use each line several times.
struct CrowdedLoop {
  const llvm::Loop *loop;
  llvm::SmallVector<llvm::Instruction *, 16> accesses;
};

/// The loops of a function that have more such accesses than the cache has
/// ways.
struct CrowdedLoops {
  llvm::Function &function;
  llvm::SmallVector<CrowdedLoop, 2> loops;
};

/// Few functions have any; only those need a Sampler.
CrowdedLoops findCrowdedLoops(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);

/// Emits SamePow2Arrays for \p crowded.
void remarkSamePow2Arrays(const CrowdedLoops &crowded, Sampler &sampler,
                          const ArrayPlaces &arrays, RemarkPlaces &places);

} // namespace mpg

#endif // MPG_PASSES_CACHEREMARKS_H
