// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All three intervals are made in the same way. A test statistic counts
// something (samples below the median, positive ranks, pairs in order), its
// distribution without any effect is known exactly, and the interval runs from
// the k-th smallest to the k-th largest of some sorted values, where k is the
// largest rank that leaves at most 2.5 % on each side. Such intervals hold at
// least 95 %: a little more for few samples, because k is a whole number, and
// for samples that are equal.
//
// Ratios are differences of logarithms, so that "twice" and "half" are equally
// far from 1. A bootstrap is not used: for seven samples it is too narrow.

#include "Measure/Statistics.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

using namespace llvm;
using namespace mpg;

// Ranks

/// The rank k, counted from 1, of both ends of the interval; 0 if there is
/// none. \p probabilities: that the statistic is 0, 1, ...
static size_t endRank(ArrayRef<double> probabilities, double tail = usualTail) {
  double sum = 0;
  size_t rank = 0;
  for (double probability : probabilities) {
    sum += probability;
    // The sum of exact fractions such as 1/40 may lie above by rounding.
    if (sum > tail + 1e-12)
      break;
    ++rank;
  }
  return rank;
}

/// The same for a statistic that is normal well enough.
static size_t endRankNormal(double mean, double variance) {
  constexpr double quantile = 1.959963984540054; // of 97.5 %
  // Counts are whole numbers: half of one of continuity.
  double last = std::floor(mean - quantile * std::sqrt(variance) - 0.5);
  return last < 0 ? 0 : size_t(last) + 1;
}

/// The rank for the number of heads of \p n coins.
static size_t endRankOfSigns(size_t n) {
  std::vector<double> probabilities;
  // In logarithms: 2^-n is 0 from n = 1075 on.
  double logarithm = -double(n) * std::log(2.0);
  for (size_t i = 0; i <= n / 2; ++i) {
    probabilities.push_back(std::exp(logarithm));
    logarithm += std::log(double(n - i)) - std::log(double(i + 1));
  }
  return endRank(probabilities);
}

/// The rank for the sum of those out of 1 ... \p n that coins choose
/// (Wilcoxon).
static size_t endRankOfSignedRanks(size_t n, double tail) {
  constexpr size_t maxExact = 100;
  if (n > maxExact) {
    assert(tail == usualTail && "the quantile of another is not known");
    double count = double(n);
    return endRankNormal(count * (count + 1) / 4,
                         count * (count + 1) * (2 * count + 1) / 24);
  }
  std::vector<double> probabilities(n * (n + 1) / 2 + 1, 0.0);
  probabilities[0] = 1;
  for (size_t value = 1; value <= n; ++value)
    for (size_t sum = value * (value + 1) / 2 + 1; sum-- > 0;)
      probabilities[sum] = (probabilities[sum] +
                            (sum >= value ? probabilities[sum - value] : 0.0)) /
                           2;
  return endRank(probabilities, tail);
}

/// The rank for the number of pairs in order, one out of \p m and one out of \p
/// n values (Mann and Whitney).
static size_t endRankOfPairs(size_t m, size_t n) {
  constexpr size_t maxExact = 40;
  if (m == 0 || n == 0)
    return 0;
  if (m > maxExact || n > maxExact) {
    double product = double(m) * double(n);
    return endRankNormal(product / 2, product * double(m + n + 1) / 12);
  }
  // The largest value is one of the m with probability m / (m + n), and then
  // all n are below it: rows[j] is the distribution for i and j values.
  std::vector<std::vector<double>> rows(n + 1, std::vector<double>(1, 1.0));
  for (size_t i = 1; i <= m; ++i)
    for (size_t j = 1; j <= n; ++j) {
      std::vector<double> next(i * j + 1, 0.0);
      double share = double(i) / double(i + j);
      for (size_t u = 0; u < rows[j].size(); ++u)
        next[u + j] += share * rows[j][u];
      for (size_t u = 0; u < rows[j - 1].size(); ++u)
        next[u] += (1 - share) * rows[j - 1][u];
      rows[j] = std::move(next);
    }
  return endRank(rows[n]);
}

// Estimates

/// pre: sorted, not empty.
static double computeMedian(ArrayRef<double> sorted) {
  double upper = sorted[sorted.size() / 2];
  if (sorted.size() % 2)
    return upper;
  double lower = sorted[sorted.size() / 2 - 1];
  return lower + (upper - lower) / 2;
}

static std::optional<Interval> intervalAt(ArrayRef<double> sorted,
                                          size_t rank) {
  // Beyond the middle the ends would change places; so few values cannot leave
  // that much on each side.
  if (rank == 0 || 2 * rank > sorted.size() + 1)
    return std::nullopt;
  return Interval{sorted[rank - 1], sorted[sorted.size() - rank]};
}

Summary mpg::summarise(ArrayRef<double> samples) {
  Summary summary;
  summary.count = samples.size();
  if (samples.empty())
    return summary;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  summary.median = computeMedian(sorted);
  summary.min = sorted.front();
  summary.max = sorted.back();
  summary.interval = intervalAt(sorted, endRankOfSigns(sorted.size()));
  return summary;
}

/// The ratio from logarithms of ratios.
static Ratio computeRatio(std::vector<double> logarithms, size_t rank) {
  Ratio ratio;
  if (logarithms.empty())
    return ratio;
  std::sort(logarithms.begin(), logarithms.end());
  ratio.value = std::exp(computeMedian(logarithms));
  if (std::optional<Interval> interval = intervalAt(logarithms, rank))
    ratio.interval = {std::exp(interval->low), std::exp(interval->high)};
  return ratio;
}

/// All pairs of values count. Of more than a thousand values, every second,
/// third, ... is enough, and the statistics still hold.
static size_t getStep(size_t count) {
  constexpr size_t maxCount = 1000;
  return (count + maxCount - 1) / maxCount;
}

Ratio mpg::pairedRatio(ArrayRef<double> before, ArrayRef<double> after,
                       double tail) {
  assert(before.size() == after.size() && "rounds that are not whole");
  size_t count = std::min(before.size(), after.size());
  std::vector<double> logarithms;
  for (size_t i = 0; i < count; i += getStep(count))
    logarithms.push_back(std::log(after[i]) - std::log(before[i]));
  // Walsh averages: of all pairs, each value with itself too.
  std::vector<double> averages;
  for (size_t i = 0; i < logarithms.size(); ++i)
    for (size_t j = i; j < logarithms.size(); ++j)
      averages.push_back((logarithms[i] + logarithms[j]) / 2);
  return computeRatio(std::move(averages),
                      endRankOfSignedRanks(logarithms.size(), tail));
}

static std::vector<double> computeLogarithms(ArrayRef<double> values) {
  std::vector<double> logarithms;
  for (size_t i = 0; i < values.size(); i += getStep(values.size()))
    logarithms.push_back(std::log(values[i]));
  return logarithms;
}

Ratio mpg::unpairedRatio(ArrayRef<double> before, ArrayRef<double> after) {
  std::vector<double> logsBefore = computeLogarithms(before);
  std::vector<double> logsAfter = computeLogarithms(after);
  std::vector<double> differences;
  for (double first : logsBefore)
    for (double second : logsAfter)
      differences.push_back(second - first);
  return computeRatio(std::move(differences),
                      endRankOfPairs(logsBefore.size(), logsAfter.size()));
}

std::string mpg::describeRatio(const Ratio &ratio, StringRef word) {
  std::string text = formatv("{0:F2}x{1}", ratio.value, word);
  if (ratio.interval)
    text +=
        formatv(" [{0:F2}, {1:F2}]", ratio.interval->low, ratio.interval->high);
  return text;
}
