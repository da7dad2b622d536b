// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts for the remarks about loops: how much work code does, as far as that is
// known at compile time, the strides of addresses, and the caches of the target
// processor. Looks through sign extensions of addresses: a valid program's
// indices do not overflow, and flang's have 32 bits.

#pragma once

#include "base/Diagnostics.h"
#include "base/LLVM.h"
#include "base/OmpRegions.h"
#include "openmp/Allocations.h"
#include "openmp/Sampler.h"
#include "llvm/IR/PassManager.h"
#include <cstdint>
#include <optional>

namespace mpg {

/// Instructions of a loop that is just worth a team of threads: 8,000
/// iterations of a[i] = b[i] + c[i] * d[i], each 3 loads, 2 operations, 1 store
/// and 3 for the loop. Known from teaching as the size to put into the if
/// clause.
inline constexpr uint64_t workWorthATeam = 8000 * 9;

/// Iterations of \p sharing, by all threads; nothing unless it is a constant.
std::optional<uint64_t> constantIterations(const WorksharingLoop &sharing);

/// About how many instructions all threads execute in \p function, which has
/// the worksharing loops \p sharings; nothing if that is not known.
std::optional<uint64_t> workOfRegion(Function &function,
                                     ArrayRef<WorksharingLoop> sharings,
                                     const LoopInfo &loops,
                                     ScalarEvolution &evolution);

/// The stride of an address from one thread to the next, where \p expression
/// depends on omp_get_thread_num(), also as an argument: 0 if it does not,
/// nothing if the stride is not constant.
std::optional<int64_t> growthPerThread(const SCEV *expression);

/// The stride from one iteration of \p loop to the next: 0 if it does not
/// change there, nothing if the stride is not constant.
std::optional<int64_t> growthPerIteration(const SCEV *expression,
                                          const Loop &loop);

/// Properties of the processor that a function is compiled for.
struct CacheShape {
  uint64_t lineBytes;
  /// Addresses that are equal modulo this share a set of the L1 data cache.
  uint64_t wayBytes;
  unsigned ways; ///< of the L1 data cache
  /// Number of threads of a team unless the program sets it.
  std::optional<unsigned> cores;
};

/// By the attribute "target-cpu" of \p function.
CacheShape cacheShapeFor(const Function &function);

// Two remarks about lines of the caches (CacheRemarks.cpp). False sharing:
// threads that write to different elements in one cache line take the line from
// each other at every write. Two forms are found: elements that are chosen by
// the thread's number, and loops that deal out neighbouring elements to
// different threads. Not told: what a thread writes once and not again and
// again (its result at the end, a sum that the compiler keeps in a register),
// and memory of the thread's own.
//
// Crowded sets: arrays that a loop traverses together and that begin at equal
// offsets modulo a way of the L1 data cache, so that all their lines share a
// set. With more of them than the cache has ways, each evicts lines that the
// loop still needs. Sizes that are powers of two cause this. As many arrays as
// there are ways fit, so three or four of them are fine on A64FX. Rows of one
// array count like arrays, because they conflict in the same way.

/// Emits FalseSharing remarks for \p function.
void remarkFalseSharing(Function &function, FunctionAnalysisManager &analyses,
                        RemarkPlaces &places);

/// An innermost loop and its accesses that use each line several times.
struct CrowdedLoop {
  const Loop *loop;
  SmallVector<Instruction *, 16> accesses;
};

/// The loops of a function that have more such accesses than the cache has
/// ways.
struct CrowdedLoops {
  Function &function;
  SmallVector<CrowdedLoop, 2> loops;
};

/// Few functions have any; only those need a Sampler.
CrowdedLoops findCrowdedLoops(Function &function,
                              FunctionAnalysisManager &analyses);

/// Emits SamePow2Arrays for \p crowded.
void remarkSamePow2Arrays(const CrowdedLoops &crowded, Sampler &sampler,
                          const ArrayPlaces &arrays, RemarkPlaces &places);

} // namespace mpg
