// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a worker of arena does: blocks out of malloc, the clock around them, and
// what lay under them.

#ifndef MPG_TOOLS_MPGBENCH_EXPERIMENTS_ARENAWORK_H
#define MPG_TOOLS_MPGBENCH_EXPERIMENTS_ARENAWORK_H

#include "mpgbench/Run/BenchResult.h"

namespace mpg {

constexpr uint64_t cycleBlockBytes = 8 << 20;
constexpr uint64_t parallelBlockBytes = 64 << 10;

/// \p count large blocks are allocated, freed, allocated and freed; the value
/// is the time of phase \p last, counted from 0, for each block.
void measurePhases(WorkerResult &result, size_t last, size_t count);

/// All threads allocate and free \p count small blocks at once; the value is
/// the time for each block of one thread.
void measureParallel(WorkerResult &result, unsigned threads, size_t count);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_EXPERIMENTS_ARENAWORK_H
