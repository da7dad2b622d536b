// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One point of the embedding experiment, and the two ways to measure it: one
// table on pages of one kind, or a copy of it on each NUMA node.

#pragma once

#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace mpg {

/// A distribution of ranks 0 to count - 1, the most frequent one first. By a
/// table of the cumulated probabilities: exact to the precision of a double, at
/// 8 bytes for each rank; without one where all ranks are alike.
class ZipfRanks {
public:
  /// \p alpha 0: all alike. An error: count is 0 or no table of that size is
  /// sensible (above 2^31), or alpha is negative or not finite.
  static llvm::Expected<ZipfRanks> make(uint64_t count, double alpha);

  /// The rank at \p fraction, which is at least 0 and below 1, of all draws.
  uint64_t rankAt(double fraction) const;

private:
  uint64_t count = 0;
  std::vector<double> cumulated; ///< [rank]: of it and all before; last: 1.
                                 ///< Empty: all alike
};

/// \p draws row numbers of a table of \p rows rows, for one \p seed always the
/// same. Frequent rows are spread over the table: neighbours in rank must not
/// share a page, or one would hold all hot rows. Errors as above.
llvm::Expected<std::vector<int32_t>> drawRows(uint64_t rows, double alpha,
                                              uint64_t draws, uint64_t seed);

/// How many different numbers there are. pre: all are in [0, rows).
uint64_t countUnique(llvm::ArrayRef<int32_t> drawn, uint64_t rows);

/// The shape of the guide's table; its dim is 4096 at most.
constexpr uint64_t guideRows = 151936, guideLookups = 65536;

/// Lookups into a table of \p rows: the guide's share of its rows, so that as
/// many of them are drawn twice.
constexpr uint64_t lookupsFor(uint64_t rows) {
  return (rows * guideLookups + guideRows - 1) / guideRows;
}

/// How often the lookups are done: once to warm up, the others are measured.
/// Each time uses new indices, as each step of a training does; else the caches
/// would hold all rows of the time before.
constexpr unsigned embedRepeats = 3, embedPasses = 1 + embedRepeats;

struct EmbedWork {
  uint64_t rows = 0, dim = 0;
  uint64_t lookups = 0; ///< of one pass
  uint32_t elementBytes = 4;
  unsigned threads = 1;
  std::vector<int32_t> indices; ///< [pass][lookup]

  uint64_t rowBytes() const { return dim * elementBytes; }
  /// The first lookup of \p thread in each pass.
  uint64_t getFirst(unsigned thread) const {
    return lookups * thread / threads;
  }
  uint64_t getCount(unsigned thread) const {
    return getFirst(thread + 1) - getFirst(thread);
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
