// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the workers of several experiments do with memory: they read it in
// streams, to see how many bytes it moves, or chase pointers through it, to see
// how long one load takes.

#ifndef MPG_TOOLS_MPGBENCH_EXPERIMENTS_MEMORYWORK_H
#define MPG_TOOLS_MPGBENCH_EXPERIMENTS_MEMORYWORK_H

#include "mpgbench/Run/BenchResult.h"

namespace mpg {

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// The unit in which streams read and write: the longest line of a cache that
/// this project knows. HW:a64fx-l1d-way
struct alignas(256) Block {
  uint64_t words[32];
};

/// Reads all words of [begin, end). The sum, so that no compiler leaves the
/// reading out; it goes to keep().
uint64_t readBlocks(const Block *begin, const Block *end);

/// Makes \p value needed.
inline void keep(uint64_t value) { asm volatile("" : : "r"(value)); }

/// Writes into each block of [begin, end), so that it has a page.
void touchBlocks(Block *begin, Block *end);

//===----------------------------------------------------------------------===//
// Chases
//===----------------------------------------------------------------------===//
//
// Loads along one random cycle of cells, each of which waits for the one
// before.

struct ChaseWork {
  const char *bytesName;               ///< the parameter with the bytes
  uint64_t seed;                       ///< of the cycle
  unsigned repeats;                    ///< of which the median counts
  uint64_t (*loadsOf)(uint64_t cells); ///< of one repetition
};

/// Measures a point with the parameters "pages", "stride" and that with the
/// bytes. Each repetition goes on where the last one ended. The value is the
/// nanoseconds of one load.
WorkerResult measureChase(const Parameters &parameters, const ChaseWork &work);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_EXPERIMENTS_MEMORYWORK_H
