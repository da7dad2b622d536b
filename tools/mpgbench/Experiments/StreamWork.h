// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What workers do that measure how many bytes memory moves.

#ifndef MPG_TOOLS_MPGBENCH_EXPERIMENTS_STREAMWORK_H
#define MPG_TOOLS_MPGBENCH_EXPERIMENTS_STREAMWORK_H

#include "mpgbench/Run/BenchResult.h"

namespace mpg {

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

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_EXPERIMENTS_STREAMWORK_H
