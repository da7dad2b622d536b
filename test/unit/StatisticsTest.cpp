// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Medians, ratios and their intervals. The ranks at which intervals end are
// those of the printed tables of the sign, signed-rank and Mann-Whitney tests
// (one more than the critical value), counted again with exact fractions; small
// ones are also counted out here. Simulations with a fixed seed show that the
// intervals hold what they promise.

#include "Measure/Statistics.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace llvm;
using namespace mpg;

namespace {

struct RankCase {
  size_t first, second; ///< numbers of values
  size_t rank;          ///< 0: no interval
};

} // namespace

/// Values whose sums, differences and averages are all different.
static std::vector<double> unevenValues(size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values(count);
  for (double &value : values)
    value = 1 + double(random() >> 11) * 0x1p-53;
  return values;
}

static std::vector<double> sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

/// That \p interval runs from the \p rank th value to the \p rank th last one.
static void expectEnds(const std::optional<Interval> &interval,
                       const std::vector<double> &values, size_t rank) {
  ASSERT_EQ(interval.has_value(), rank != 0);
  if (!interval)
    return;
  EXPECT_NEAR(interval->low, values[rank - 1], 1e-12);
  EXPECT_NEAR(interval->high, values[values.size() - rank], 1e-12);
}

/// exp of the averages of all pairs of logarithms of quotients.
static std::vector<double> walshRatios(const std::vector<double> &before,
                                       const std::vector<double> &after) {
  std::vector<double> ratios;
  for (size_t i = 0; i < before.size(); ++i)
    for (size_t j = 0; j <= i; ++j)
      ratios.push_back(
          std::sqrt(after[i] / before[i] * (after[j] / before[j])));
  return sorted(ratios);
}

static std::vector<double> allRatios(const std::vector<double> &before,
                                     const std::vector<double> &after) {
  std::vector<double> ratios;
  for (double first : before)
    for (double second : after)
      ratios.push_back(second / first);
  return sorted(ratios);
}

TEST(Statistics, MedianMinimumMaximum) {
  Summary none = summarise({});
  EXPECT_EQ(none.count, 0u);
  EXPECT_EQ(none.median, 0);
  EXPECT_FALSE(none.interval);
  Summary one = summarise({3.5});
  EXPECT_EQ(one.median, 3.5);
  EXPECT_EQ(one.min, 3.5);
  EXPECT_EQ(one.max, 3.5);
  EXPECT_EQ(summarise({4, 1}).median, 2.5);
  Summary odd = summarise({9, 1, 5, 7, 3});
  EXPECT_EQ(odd.count, 5u);
  EXPECT_EQ(odd.median, 5);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.max, 9);
  EXPECT_EQ(summarise({1e308, 1.5e308}).median, 1.25e308);
}

TEST(Statistics, OneHugeOutlierMovesNothing) {
  Summary summary = summarise({10, 11, 12, 13, 14, 15, 16, 17, 1e9});
  EXPECT_EQ(summary.median, 14);
  ASSERT_TRUE(summary.interval);
  EXPECT_EQ(summary.interval->low, 11);
  EXPECT_EQ(summary.interval->high, 17);
  Ratio ratio =
      pairedRatio({1, 1, 1, 1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2, 2, 2, 2e9});
  EXPECT_NEAR(ratio.value, 2, 1e-12);
  ASSERT_TRUE(ratio.interval);
  EXPECT_NEAR(ratio.interval->low, 2, 1e-12);
}

TEST(Statistics, RanksOfTheMedian) {
  const RankCase cases[] = {
      {1, 0, 0},    {5, 0, 0},      {6, 0, 1},     {7, 0, 1},
      {8, 0, 1},    {9, 0, 2},      {10, 0, 2},    {15, 0, 4},
      {20, 0, 6},   {25, 0, 8},     {30, 0, 10},   {50, 0, 18},
      {100, 0, 40}, {1000, 0, 469}, {2000, 0, 956}}; // 2^-2000 is not a double
  for (const RankCase &test : cases) {
    std::vector<double> values = unevenValues(test.first, 1);
    expectEnds(summarise(values).interval, sorted(values), test.rank);
  }
}

TEST(Statistics, RanksOfPairs) {
  const RankCase cases[] = {
      {1, 0, 0},    {5, 0, 0},    {6, 0, 1},    {7, 0, 3},     {8, 0, 4},
      {9, 0, 6},    {10, 0, 9},   {15, 0, 26},  {20, 0, 53},   {25, 0, 90},
      {30, 0, 138}, {40, 0, 265}, {50, 0, 435}, {100, 0, 1956}};
  for (const RankCase &test : cases) {
    std::vector<double> before = unevenValues(test.first, 2);
    std::vector<double> after = unevenValues(test.first, 3);
    expectEnds(pairedRatio(before, after).interval, walshRatios(before, after),
               test.rank);
  }
}

TEST(Statistics, RanksOfIndependentValues) {
  const RankCase cases[] = {
      {1, 1, 0}, {3, 3, 0},    {1, 39, 1},    {2, 8, 1},    {3, 5, 1},
      {4, 4, 1}, {5, 5, 3},    {6, 6, 6},     {7, 7, 9},    {7, 5, 6},
      {5, 7, 6}, {10, 10, 24}, {20, 20, 128}, {40, 40, 597}};
  for (const RankCase &test : cases) {
    std::vector<double> before = unevenValues(test.first, 4);
    std::vector<double> after = unevenValues(test.second, 5);
    expectEnds(unpairedRatio(before, after).interval, allRatios(before, after),
               test.rank);
  }
}

/// Above the exact part the interval may be wider by the approximation, never
/// narrower, and hardly. The ranks are exact.
TEST(Statistics, ManyValuesAreAsGood) {
  const RankCase cases[] = {{101, 0, 1998}, {150, 0, 4619}, {200, 0, 8445}};
  for (const RankCase &test : cases) {
    std::vector<double> before = unevenValues(test.first, 6);
    std::vector<double> after = unevenValues(test.first, 7);
    std::vector<double> ratios = walshRatios(before, after);
    std::optional<Interval> interval = pairedRatio(before, after).interval;
    ASSERT_TRUE(interval);
    EXPECT_LE(interval->low, ratios[test.rank - 1] + 1e-12);
    EXPECT_GE(interval->low, ratios[test.rank - 6] - 1e-12);
  }
  std::vector<double> before = unevenValues(60, 8), after = unevenValues(50, 9);
  std::vector<double> ratios = allRatios(before, after);
  std::optional<Interval> interval = unpairedRatio(before, after).interval;
  ASSERT_TRUE(interval);
  EXPECT_LE(interval->low, ratios[1174 - 1] + 1e-12);
  EXPECT_GE(interval->low, ratios[1174 - 6] - 1e-12);
}

/// The signed-rank test itself, over all signs: an assumed ratio is inside the
/// interval exactly if the test does not refuse it.
TEST(Statistics, IntervalIsWhatTheTestDoesNotRefuse) {
  constexpr size_t count = 8;
  std::vector<double> before = unevenValues(count, 10);
  std::vector<double> after = unevenValues(count, 11);
  std::optional<Interval> interval = pairedRatio(before, after).interval;
  ASSERT_TRUE(interval);
  unsigned inside = 0;
  for (double assumed = 0.5; assumed < 2; assumed *= 1.003) {
    std::vector<double> sizes, differences;
    for (size_t i = 0; i < count; ++i)
      differences.push_back(std::log(after[i] / before[i] / assumed));
    for (double difference : differences)
      sizes.push_back(std::abs(difference));
    std::sort(sizes.begin(), sizes.end());
    size_t positive = 0;
    for (double difference : differences)
      if (difference > 0)
        positive += size_t(std::find(sizes.begin(), sizes.end(), difference) -
                           sizes.begin()) +
                    1;
    size_t below = 0, above = 0; // of all 2^count signs
    for (unsigned signs = 0; signs < 1u << count; ++signs) {
      size_t sum = 0;
      for (size_t i = 0; i < count; ++i)
        sum += signs >> i & 1 ? i + 1 : 0;
      below += sum <= positive;
      above += sum >= positive;
    }
    bool isRefused = std::min(below, above) * 40 <= 1u << count;
    EXPECT_EQ(assumed < interval->low || assumed > interval->high, isRefused)
        << assumed;
    inside += !isRefused;
  }
  EXPECT_GT(inside, 10u);
}

TEST(Statistics, EqualValues) {
  std::vector<double> same(7, 4.25);
  Summary summary = summarise(same);
  ASSERT_TRUE(summary.interval);
  EXPECT_EQ(summary.interval->low, 4.25);
  EXPECT_EQ(summary.interval->high, 4.25);
  for (const Ratio &ratio :
       {pairedRatio(same, same), unpairedRatio(same, same)}) {
    EXPECT_EQ(ratio.value, 1);
    ASSERT_TRUE(ratio.interval);
    EXPECT_FALSE(ratio.isReal());
  }
  // Four of seven pairs are equal: nothing is certain.
  EXPECT_FALSE(
      pairedRatio({1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 2, 2, 2}).isReal());
}

TEST(Statistics, RatioIsAfterToBefore) {
  Ratio ratio = pairedRatio({1, 2, 3, 4, 5, 6, 7}, {2, 4, 6, 8, 10, 12, 14});
  EXPECT_NEAR(ratio.value, 2, 1e-12);
  EXPECT_TRUE(ratio.isReal());
  ratio = unpairedRatio({8.0, 8.1, 8.2, 8.3}, {4.0, 4.1, 4.2, 4.3});
  EXPECT_NEAR(ratio.value, 0.509, 0.005);
  EXPECT_TRUE(ratio.isReal());
  // Times of two rounds each that differ by 10, and their quotients by 2.
  ratio = pairedRatio({1, 10, 1, 10, 1, 10}, {2, 20, 2, 20, 2, 20});
  EXPECT_NEAR(ratio.value, 2, 1e-12);
  EXPECT_TRUE(ratio.isReal());
}

TEST(Statistics, TooFewSayNothing) {
  EXPECT_FALSE(pairedRatio({}, {}).interval);
  EXPECT_EQ(pairedRatio({}, {}).value, 1);
  EXPECT_EQ(pairedRatio({2}, {6}).value, std::exp(std::log(6) - std::log(2)));
  EXPECT_FALSE(pairedRatio({1, 1, 1, 1, 1}, {9, 9, 9, 9, 9}).isReal());
  EXPECT_TRUE(pairedRatio({1, 1, 1, 1, 1, 1}, {9, 9, 9, 9, 9, 9}).isReal());
  EXPECT_EQ(unpairedRatio({}, {1, 2}).value, 1);
  EXPECT_FALSE(unpairedRatio({}, {1, 2}).interval);
  EXPECT_FALSE(unpairedRatio({1, 1, 1}, {9, 9, 9}).isReal());
  EXPECT_TRUE(unpairedRatio({1, 1, 1, 1}, {9, 9, 9, 9}).isReal());
}

TEST(Statistics, ThousandsOfValuesTakeBoundedMemory) {
  std::vector<double> before = unevenValues(20001, 12);
  std::vector<double> after = before;
  for (double &value : after)
    value *= 1.5;
  Ratio ratio = pairedRatio(before, after);
  EXPECT_NEAR(ratio.value, 1.5, 1e-9);
  EXPECT_TRUE(ratio.isReal());
  EXPECT_NEAR(unpairedRatio(before, after).value, 1.5, 0.05);
}

namespace {

/// How often an interval held the true value, and its mean width.
struct Coverage {
  double share = 0, width = 0;
  void count(const std::optional<Interval> &interval, double truth,
             unsigned runs) {
    ASSERT_TRUE(interval);
    share += (interval->low <= truth && truth <= interval->high) / double(runs);
    width += (interval->high - interval->low) / runs;
  }
};

} // namespace

/// Realistic times: a tight bulk and a long tail to one side.
static double skewedTime(std::mt19937_64 &random) {
  double uniform = (double(random() >> 11) + 0.5) * 0x1p-53;
  return 100 + 2 * -std::log(uniform);
}

TEST(Statistics, IntervalsHoldWhatTheyPromise) {
  constexpr unsigned runs = 2000;
  const double trueMedian = 100 + 2 * std::log(2.0);
  for (size_t count : {6, 7, 15}) {
    std::mt19937_64 random(13);
    Coverage median, paired, unpaired;
    for (unsigned run = 0; run < runs; ++run) {
      std::vector<double> before, after;
      for (size_t i = 0; i < count; ++i) {
        // A drift that both have: pairs must not suffer from it.
        double drift = 1 + 0.3 * double(i);
        before.push_back(skewedTime(random) * drift);
        after.push_back(skewedTime(random) * drift * 1.25);
      }
      paired.count(pairedRatio(before, after).interval, 1.25, runs);
      for (size_t i = 0; i < count; ++i) {
        before[i] /= 1 + 0.3 * double(i);
        after[i] /= 1 + 0.3 * double(i);
      }
      median.count(summarise(before).interval, trueMedian, runs);
      unpaired.count(unpairedRatio(before, after).interval, 1.25, runs);
    }
    // One standard error of 95 % out of 2000 is 0.49 %.
    EXPECT_GE(median.share, 0.94) << count;
    EXPECT_GE(paired.share, 0.94) << count;
    EXPECT_GE(unpaired.share, 0.94) << count;
    EXPECT_LT(median.width, 6) << count;
    EXPECT_LT(paired.width, 0.1) << count;
    EXPECT_LT(unpaired.width, 0.1) << count;
  }
}
