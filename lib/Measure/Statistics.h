// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statistics of repeated measurements. Times are not normal: a busy moment
// makes some of them longer, none shorter. So everything here uses ranks, and
// the intervals are exact for any continuous distribution. With too few
// measurements for 95 % there is no interval, instead of a guess.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace mpg {

/// The numbers below \p count in random order. Not std::shuffle, which may
/// differ between libraries: the same seed gives the same order everywhere.
inline std::vector<size_t> randomOrder(size_t count, std::mt19937_64 &random) {
  std::vector<size_t> order(count);
  for (size_t index = 0; index < count; ++index)
    order[index] = index;
  for (size_t left = count; left > 1; --left)
    std::swap(order[left - 1], order[random() % left]);
  return order;
}

/// The probability on each side of an interval of 95 %.
constexpr double usualTail = 0.025;

struct Interval {
  double low, high;
};

/// One quantity, measured some times.
struct Summary {
  size_t count = 0;
  double median = 0, min = 0, max = 0; ///< 0 if count is 0
  /// Holds the median with at least 95 %: two order statistics. Nothing below
  /// six measurements.
  std::optional<Interval> interval;
};
Summary summarise(llvm::ArrayRef<double> samples);

/// How many times as large \p after is as \p before.
struct Ratio {
  double value = 1;
  std::optional<Interval> interval; ///< at least 95 %
  /// Whether the interval excludes 1.
  bool isReal() const {
    return interval && (interval->low > 1 || interval->high < 1);
  }
};

/// "1.25x\p word [1.20, 1.31]", or without an interval if there is none.
std::string describeRatio(const Ratio &ratio, llvm::StringRef word = "");

/// The ratio of measurements that were taken in turn: before[i] and after[i] in
/// the same round. It is the Hodges-Lehmann estimate of the quotients, with the
/// interval that belongs to Wilcoxon's signed-rank test; none below six rounds.
/// pre: equal lengths, all values above 0; another \p tail (the probability on
/// each side of the interval) for at most 100 rounds.
Ratio pairedRatio(llvm::ArrayRef<double> before, llvm::ArrayRef<double> after,
                  double tail = usualTail);

/// The ratio of independent measurements, such as those of two files: the same
/// estimate over all pairs, with the interval of the Mann-Whitney test; none if
/// there are too few (four against four is enough).
/// pre: all values above 0. Empty: a ratio of 1 without an interval.
Ratio unpairedRatio(llvm::ArrayRef<double> before,
                    llvm::ArrayRef<double> after);

} // namespace mpg
