// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one point of the embedding experiment is, and the two ways to measure
// it: one table on pages of one kind, or a copy of it on each NUMA node.

#ifndef MPG_TOOLS_MPGBENCH_EXPERIMENTS_EMBEDWORK_H
#define MPG_TOOLS_MPGBENCH_EXPERIMENTS_EMBEDWORK_H

#include "mpgbench/Run/BenchResult.h"
#include <cstdint>
#include <vector>

namespace mpg {

/// The shape of the guide's table; its dim is 4096 at most.
constexpr uint64_t guideRows = 151936, guideLookups = 65536;

/// Lookups into a table of \p rows: the guide's share of its rows, so that as
/// many of them are drawn twice.
constexpr uint64_t lookupsFor(uint64_t rows) {
  return (rows * guideLookups + guideRows - 1) / guideRows;
}

/// How often the lookups are done: once to warm up, the others are measured.
/// Each time has indices of its own, as each step of a training has; else the
/// caches would hold all rows of the time before.
constexpr unsigned embedRepeats = 3, embedPasses = 1 + embedRepeats;

struct EmbedWork {
  uint64_t rows = 0, dim = 0;
  uint64_t lookups = 0; ///< of one pass
  uint32_t elementBytes = 4;
  unsigned threads = 1;
  std::vector<int32_t> indices; ///< [pass][lookup]

  uint64_t rowBytes() const { return dim * elementBytes; }
  /// The first lookup of \p thread in each pass.
  uint64_t firstOf(unsigned thread) const { return lookups * thread / threads; }
  uint64_t countOf(unsigned thread) const {
    return firstOf(thread + 1) - firstOf(thread);
  }
};

/// One table, and one array for the results, on \p pages.
void measureOnPages(WorkerResult &result, const EmbedWork &work,
                    llvm::StringRef pages);

/// The table out of malloc. \p isReplicated: each thread reads the copy on its
/// NUMA node (mpg_replicate). Indices and results are each thread's own, on its
/// node, either way. pre: libmpg is in the process.
void measureOnNodes(WorkerResult &result, const EmbedWork &work,
                    bool isReplicated);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_EXPERIMENTS_EMBEDWORK_H
