// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models that mpgbench computes beside its measurements: indices drawn by
// Zipf's law, and the number of cache sets for which several arrays compete.
// Expected values come from the formula, from counting by hand, and from a
// cache that is simulated line by line.

#include "mpgbench/Experiments/EmbedWork.h"
#include "mpgbench/Experiments/ExperimentThresh.h"
#include "gtest/gtest.h"
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <set>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static std::vector<int32_t> draw(uint64_t rows, double alpha, uint64_t draws,
                                 uint64_t seed = 7) {
  Expected<std::vector<int32_t>> drawn = drawRows(rows, alpha, draws, seed);
  EXPECT_TRUE(bool(drawn));
  return drawn ? *drawn : std::vector<int32_t>();
}

// Zipf

/// Just before the sum of the first probabilities, and just after it.
TEST(Zipf, RanksBeginWhereTheFormulaSays) {
  for (double alpha : {0.0, 0.8, 1.0, 1.2, 3.0}) {
    constexpr uint64_t count = 1000;
    double sum = 0;
    for (uint64_t rank = 1; rank <= count; ++rank)
      sum += 1 / std::pow(double(rank), alpha);
    Expected<ZipfRanks> ranks = ZipfRanks::make(count, alpha);
    ASSERT_TRUE(bool(ranks));
    double before = 0;
    for (uint64_t rank = 0; rank + 1 < count; ++rank) {
      before += 1 / std::pow(double(rank + 1), alpha) / sum;
      EXPECT_EQ(ranks->rankAt(before - 1e-12), rank) << alpha;
      EXPECT_EQ(ranks->rankAt(before + 1e-12), rank + 1) << alpha;
    }
  }
}

/// Five standard deviations: one of 100 rows is further away by chance in one
/// of 20,000 runs, and the seed is fixed.
TEST(Zipf, RowsAreDrawnAsOftenAsTheFormulaSays) {
  constexpr uint64_t rows = 100, draws = 250000;
  for (double alpha : {0.0, 0.8, 1.0, 1.2}) {
    std::vector<double> counts(rows);
    for (int32_t row : draw(rows, alpha, draws))
      counts[size_t(row)] += 1;
    // Ranks lie anywhere in the table; sorted they are ranks again.
    std::sort(counts.rbegin(), counts.rend());
    double sum = 0;
    for (uint64_t rank = 1; rank <= rows; ++rank)
      sum += 1 / std::pow(double(rank), alpha);
    for (uint64_t rank = 0; rank < rows; ++rank) {
      double part = 1 / std::pow(double(rank + 1), alpha) / sum;
      double deviation = std::sqrt(double(draws) * part * (1 - part));
      EXPECT_NEAR(counts[rank], double(draws) * part, 5 * deviation)
          << "alpha " << alpha << " rank " << rank;
    }
  }
}

TEST(Zipf, FractionsAtTheEdgesAreRanks) {
  const double belowOne = std::nextafter(1.0, 0.0);
  const struct {
    uint64_t count;
    double alpha, fraction;
    uint64_t rank;
  } cases[] = {
      {1, 0, 0, 0},
      {1, 1.2, belowOne, 0},
      {4, 0, 0, 0},
      {4, 0, 0.2499, 0},
      {4, 0, 0.25, 1},
      {4, 0, 0.75, 3},
      {4, 0, belowOne, 3},
      {2, 1, 0.66, 0},
      {2, 1, 0.67, 1},
      // All but the first rank have probability 0 to a double's precision.
      {1000, 5000, belowOne, 0},
  };
  for (const auto &test : cases) {
    Expected<ZipfRanks> ranks = ZipfRanks::make(test.count, test.alpha);
    ASSERT_TRUE(bool(ranks));
    EXPECT_EQ(ranks->rankAt(test.fraction), test.rank)
        << test.count << " " << test.alpha << " " << test.fraction;
  }
}

TEST(Zipf, WhatIsNoDistributionIsRefused) {
  const struct {
    uint64_t count;
    double alpha;
  } cases[] = {{0, 1},
               {(uint64_t(1) << 31) + 1, 1},
               {UINT64_MAX, 0},
               {10, -0.1},
               {10, std::numeric_limits<double>::infinity()},
               {10, std::numeric_limits<double>::quiet_NaN()}};
  for (const auto &test : cases) {
    Expected<std::vector<int32_t>> drawn =
        drawRows(test.count, test.alpha, 5, 1);
    EXPECT_FALSE(bool(drawn)) << test.count << " " << test.alpha;
    EXPECT_FALSE(toString(drawn.takeError()).empty());
  }
}

TEST(Zipf, EveryRowCanBeDrawnAndNoOther) {
  for (uint64_t rows : {1, 2, 3, 10, 64, 997, 1000}) {
    std::vector<int32_t> drawn = draw(rows, 0, rows * 30);
    std::set<int32_t> unique(drawn.begin(), drawn.end());
    EXPECT_EQ(unique.size(), rows);
    EXPECT_GE(*unique.begin(), 0);
    EXPECT_LT(uint64_t(*unique.rbegin()), rows);
    EXPECT_EQ(countUnique(drawn, rows), rows);
  }
  EXPECT_TRUE(draw(10, 1, 0).empty());
  EXPECT_EQ(countUnique({}, 10), 0U);
}

TEST(Zipf, OneSeedGivesTheSameRowsAnotherOneOthers) {
  EXPECT_EQ(draw(1000, 1.2, 100, 3), draw(1000, 1.2, 100, 3));
  EXPECT_NE(draw(1000, 1.2, 100, 3), draw(1000, 1.2, 100, 4));
}

/// Hot rows next to each other would lie on one page, and the page size would
/// not matter for them.
TEST(Zipf, FrequentRowsAreFarFromEachOther) {
  constexpr uint64_t rows = 151936, draws = 100000;
  std::vector<uint64_t> counts(rows);
  for (int32_t row : draw(rows, 1.2, draws))
    ++counts[size_t(row)];
  std::vector<uint64_t> hottest(rows);
  for (uint64_t row = 0; row < rows; ++row)
    hottest[row] = row;
  std::partial_sort(
      hottest.begin(), hottest.begin() + 8, hottest.end(),
      [&](uint64_t a, uint64_t b) { return counts[a] > counts[b]; });
  for (size_t a = 0; a < 8; ++a)
    for (size_t b = 0; b < a; ++b)
      EXPECT_GT(std::max(hottest[a], hottest[b]) -
                    std::min(hottest[a], hottest[b]),
                rows / 64);
}

/// Row counts that the guide gives for its own generator (14.5).
TEST(Zipf, UniqueRowsAreNearTheGuides) {
  const struct {
    double alpha, guide;
  } cases[] = {{0, 51e3}, {0.8, 32e3}, {1.0, 19e3}, {1.2, 8e3}};
  for (const auto &test : cases)
    EXPECT_NEAR(double(countUnique(draw(151936, test.alpha, 65536), 151936)),
                test.guide, test.guide * 0.15)
        << test.alpha;
}

// Sets

namespace {

constexpr uint64_t kib = 1024;

std::vector<uint64_t> every(uint64_t distance, unsigned count,
                            uint64_t start = 0x7f0000000000) {
  std::vector<uint64_t> starts;
  for (unsigned i = 0; i < count; ++i)
    starts.push_back(start + i * distance);
  return starts;
}

} // namespace

TEST(CacheSets, ArraysAtEqualPlacesOfAWayConflict) {
  const struct {
    std::vector<uint64_t> starts;
    uint64_t sets, maxArrays;
  } cases[] = {
      {{}, 0, 0},
      {every(512 * kib, 1), 0, 1},
      // As many as ways: all of them fit.
      {every(512 * kib, 4), 0, 4},
      {every(512 * kib, 5), 64, 5},
      {every(512 * kib, 8), 64, 8},
      // malloc's header of 16 bytes changes nothing.
      {every(512 * kib, 8, 0x7f0000000010), 64, 8},
      // A line further each: no two meet.
      {every(512 * kib + 256, 8), 0, 1},
      // Half a line further each: always two meet, at some index.
      {every(512 * kib + 128, 8), 0, 2},
      // Pages of 4 KiB in between: two arrays at each quarter of a way.
      {every(516 * kib, 8), 0, 2},
      {every(520 * kib, 8), 0, 4},
      {every(520 * kib, 10), 64, 5},
  };
  for (const auto &test : cases) {
    SetConflicts conflicts = countConflicts(test.starts, 512 * kib, a64fxL1d);
    EXPECT_EQ(conflicts.sets, test.sets);
    EXPECT_EQ(conflicts.maxArrays, test.maxArrays);
  }
}

TEST(CacheSets, ShortArraysReachFewSets) {
  EXPECT_EQ(countConflicts(every(16 * kib, 5), 256, a64fxL1d).sets, 1U);
  EXPECT_EQ(countConflicts(every(16 * kib, 5), 257, a64fxL1d).sets, 2U);
  EXPECT_EQ(countConflicts(every(16 * kib, 5), 0, a64fxL1d).sets, 0U);
}

namespace {

/// A cache that forgets what was used longest ago.
class LruCache {
public:
  explicit LruCache(const CacheShape &shape)
      : shape(shape), lines(shape.sets) {}
  void read(uint64_t address) {
    uint64_t line = address / shape.lineBytes;
    std::vector<uint64_t> &set = lines[line % shape.sets];
    auto at = std::find(set.begin(), set.end(), line);
    if (at != set.end())
      set.erase(at);
    else
      ++misses;
    set.insert(set.begin(), line);
    if (set.size() > shape.ways)
      set.pop_back();
  }
  uint64_t misses = 0;

private:
  CacheShape shape;
  std::vector<std::vector<uint64_t>> lines;
};

} // namespace

/// Where nothing conflicts, a simulated cache reads each line once; where all
/// sets do, it reads lines again.
TEST(CacheSets, ASimulatedCacheAgrees) {
  std::mt19937_64 random(11);
  unsigned seenWithout = 0, seenWith = 0;
  for (unsigned round = 0; round < 18; ++round) {
    // At 4 KiB borders, as mmap gives them.
    std::vector<uint64_t> starts = every(512 * kib, 8);
    for (uint64_t &start : starts)
      start += random() % 8 * 4 * kib * (round % 3);
    SetConflicts conflicts = countConflicts(starts, 64 * kib, a64fxL1d);
    LruCache cache(a64fxL1d);
    for (uint64_t offset = 0; offset < 64 * kib; offset += 8)
      for (uint64_t start : starts)
        cache.read(start + offset);
    uint64_t lines = starts.size() * 64 * kib / a64fxL1d.lineBytes;
    if (conflicts.sets == 0) {
      EXPECT_EQ(cache.misses, lines);
      ++seenWithout;
    } else {
      EXPECT_GT(cache.misses, lines);
      ++seenWith;
    }
  }
  EXPECT_GT(seenWithout, 0U);
  EXPECT_GT(seenWith, 0U);
}

namespace {

/// A copy of sysfs with one cache.
class FakeSysfs {
public:
  FakeSysfs() {
    char name[] = "/tmp/mpg-sysfs-XXXXXX";
    root = mkdtemp(name);
    cache = root + "/sys/devices/system/cpu/cpu0/cache/index0/";
    std::filesystem::create_directories(cache);
  }
  ~FakeSysfs() { std::filesystem::remove_all(root); }
  void write(const char *file, const char *text) {
    std::ofstream(cache + file) << text << "\n";
  }
  std::string root;

private:
  std::string cache;
};

} // namespace

TEST(CacheSets, TheMachinesOwnCacheIsReadOrUnknown) {
  FakeSysfs sysfs;
  EXPECT_FALSE(readL1d(SysTree(sysfs.root)));
  sysfs.write("type", "Data");
  sysfs.write("level", "1");
  sysfs.write("number_of_sets", "64");
  sysfs.write("ways_of_associativity", "12");
  EXPECT_FALSE(readL1d(SysTree(sysfs.root)));
  sysfs.write("coherency_line_size", "64");
  std::optional<CacheShape> shape = readL1d(SysTree(sysfs.root));
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->sets, 64U);
  EXPECT_EQ(shape->ways, 12U);
  EXPECT_EQ(shape->lineBytes, 64U);
  sysfs.write("number_of_sets", "0");
  EXPECT_FALSE(readL1d(SysTree(sysfs.root)));
  sysfs.write("number_of_sets", "18446744073709551615");
  EXPECT_FALSE(readL1d(SysTree(sysfs.root)));
  sysfs.write("number_of_sets", "64");
  sysfs.write("type", "Instruction");
  EXPECT_FALSE(readL1d(SysTree(sysfs.root)));
}
