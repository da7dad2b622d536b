// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Row numbers as users of a table draw them: all alike, or a few rows most of
// the time (Zipf: the row of rank r is drawn in proportion to 1 / r^alpha, as
// words of a language are).

#ifndef MPG_TOOLS_MPGBENCH_EXPERIMENTS_ZIPF_H
#define MPG_TOOLS_MPGBENCH_EXPERIMENTS_ZIPF_H

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
  /// How often \p rank is drawn, as a part of 1. pre: rank < count.
  double probability(uint64_t rank) const;

private:
  uint64_t count = 0;
  std::vector<double> cumulated; ///< [rank]: of it and all before; last: 1.
                                 ///< Empty: all alike
};

/// \p draws row numbers of a table of \p rows rows, for one \p seed always the
/// same. Frequent rows are spread over the table: neighbours in rank are no
/// neighbours in memory, or one page would hold all hot rows. Errors as above.
llvm::Expected<std::vector<int32_t>> drawRows(uint64_t rows, double alpha,
                                              uint64_t draws, uint64_t seed);

/// How many different numbers there are. pre: all are in [0, rows).
uint64_t countUnique(llvm::ArrayRef<int32_t> drawn, uint64_t rows);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_EXPERIMENTS_ZIPF_H
