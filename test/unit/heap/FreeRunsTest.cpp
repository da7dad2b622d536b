// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs of free units against a plain set of intervals: every allocated run
// fits, is aligned, and was free; every freed run merges with its neighbours; a
// run that fits is found if there is one.

#include "heap/FreeRuns.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

using namespace mpg;
using Units = FreeRuns::Run;

namespace {

/// The runs, and what should be true of them.
class CheckedRuns {
public:
  explicit CheckedRuns(uint32_t units)
      : units(units), table(new UnitEntry[units]()) {
    runs.start(table.get(), owner);
  }

  void recycle(uint32_t first, uint32_t length, bool isZero = false) {
    Units run = runs.recycle({first, length, isZero});
    auto behind = free.lower_bound(first);
    if (behind != free.end() && behind->first == first + length) {
      length += behind->second.length;
      isZero &= behind->second.isZero;
      behind = free.erase(behind);
    }
    if (behind != free.begin()) {
      auto before = std::prev(behind);
      if (before->first + before->second.length == first) {
        first = before->first;
        length += before->second.length;
        isZero &= before->second.isZero;
        free.erase(before);
      }
    }
    free[first] = {length, isZero};
    EXPECT_EQ(run.first, first);
    EXPECT_EQ(run.length, length);
    EXPECT_EQ(run.isZero, isZero);
  }

  Units acquire(uint32_t length, uint32_t alignment = 1) {
    Units run = runs.acquire(length, alignment);
    if (!run.first) {
      EXPECT_FALSE(hasRoomFor(length, alignment))
          << length << " units at multiples of " << alignment;
      return run;
    }
    EXPECT_EQ(run.first % alignment, 0u);
    EXPECT_EQ(run.length, length);
    remove(run);
    return run;
  }

  Units acquireAt(uint32_t first, uint32_t length) {
    Units run = runs.acquireAt(first, length);
    auto found = free.find(first);
    bool fits = found != free.end() && found->second.length >= length;
    EXPECT_EQ(run.first, fits ? first : 0);
    if (run.first)
      remove(run);
    return run;
  }

  void cut(uint32_t start, uint32_t first, uint32_t length) {
    auto run = free.at(start);
    remove(runs.cut({start, run.length, run.isZero}, first, length));
  }

  uint64_t pieces() const {
    uint64_t count = 0;
    runs.forEach([&](Units) { return ++count != 0; });
    return count;
  }

  /// Compares everything that can be asked.
  void check() {
    uint64_t total = 0;
    for (auto &[first, run] : free) {
      total += run.length;
      EXPECT_EQ(runs.endingAt(first + run.length).first, first);
      EXPECT_EQ(runs.endingAt(first).first, 0u);
    }
    EXPECT_EQ(runs.freeUnits(), total);
    EXPECT_EQ(pieces(), free.size());
    size_t count = 0;
    runs.forEach([&](Units run) {
      auto found = free.find(run.first);
      EXPECT_TRUE(found != free.end() && found->second.length == run.length &&
                  found->second.isZero == run.isZero)
          << run.first << ", " << run.length;
      return ++count < free.size() + 1;
    });
    EXPECT_EQ(count, free.size());
  }

  static constexpr uint16_t owner = 7;
  uint32_t units;
  std::unique_ptr<UnitEntry[]> table;
  FreeRuns runs;

private:
  struct Piece {
    uint32_t length;
    bool isZero;
  };

  bool hasRoomFor(uint32_t length, uint32_t alignment) const {
    for (auto &[first, run] : free) {
      uint64_t start = (uint64_t(first) + alignment - 1) / alignment;
      if (start * alignment + length <= uint64_t(first) + run.length)
        return true;
    }
    return false;
  }

  /// \p taken has to be within one free run.
  void remove(Units taken) {
    auto found = free.upper_bound(taken.first);
    ASSERT_TRUE(found != free.begin());
    --found;
    uint32_t first = found->first;
    Piece run = found->second;
    ASSERT_LE(taken.end(), first + run.length) << "was not free";
    EXPECT_EQ(taken.isZero, run.isZero);
    free.erase(found);
    if (first < taken.first)
      free[first] = {taken.first - first, run.isZero};
    if (taken.end() < first + run.length)
      free[taken.end()] = {first + run.length - taken.end(), run.isZero};
  }

  std::map<uint32_t, Piece> free;
};

} // namespace

TEST(FreeRunsTest, LengthsAtTheBordersOfLists) {
  for (uint32_t length : {1u, 2u, 31u, 32u, 33u, 63u, 64u, 65u, 1023u, 1024u,
                          1025u, (1u << 20) - 1, 1u << 20, (1u << 20) + 1}) {
    CheckedRuns runs((1 << 21) + 2);
    runs.recycle(1, length);
    runs.check();
    if (length > 1) {
      EXPECT_EQ(runs.acquire(length + 1).first, 0u);
      Units max = runs.acquire(length - 1);
      EXPECT_EQ(runs.acquire(2).first, 0u);
      runs.check();
      runs.recycle(max.first, max.length);
    }
    EXPECT_EQ(runs.acquire(length).first, 1u) << "a run of exactly this length";
    EXPECT_EQ(runs.acquire(1).first, 0u);
    runs.check();
  }
}

TEST(FreeRunsTest, AnEmptyOneHasNothing) {
  CheckedRuns runs(100);
  EXPECT_EQ(runs.acquire(1).first, 0u);
  EXPECT_EQ(runs.acquire(1, 64).first, 0u);
  EXPECT_EQ(runs.acquireAt(5, 1).first, 0u);
  EXPECT_EQ(runs.runs.endingAt(5).first, 0u);
  runs.check();
}

TEST(FreeRunsTest, GivingInAnyOrderMakesOneRun) {
  std::vector<uint32_t> order = {0, 1, 2, 3};
  do {
    CheckedRuns runs(100);
    for (uint32_t i : order)
      runs.recycle(10 + i * 20, 20);
    runs.check();
    EXPECT_EQ(runs.pieces(), 1u);
    EXPECT_EQ(runs.runs.endingAt(90).first, 10u);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(FreeRunsTest, TakeAtNeedsTheStartOfARunThatIsLongEnough) {
  CheckedRuns runs(100);
  runs.recycle(10, 20);
  runs.table[50].length = 5;
  runs.table[50].owner = CheckedRuns::owner;
  runs.table[50].state = UnitState::used;
  for (uint32_t first : {9u, 11u, 28u, 30u, 50u})
    EXPECT_EQ(runs.acquireAt(first, 1).first, 0u) << first;
  EXPECT_EQ(runs.acquireAt(10, 21).first, 0u);
  EXPECT_EQ(runs.acquireAt(10, 5).first, 10u);
  EXPECT_EQ(runs.acquireAt(15, 15).first, 15u);
  runs.check();
  EXPECT_EQ(runs.runs.freeUnits(), 0u);
}

TEST(FreeRunsTest, CutLeavesBothSides) {
  struct {
    uint32_t first, length;
    uint64_t pieces;
  } cases[] = {{10, 20, 0}, {10, 1, 1}, {29, 1, 1}, {15, 5, 2}, {11, 18, 2}};
  for (auto &each : cases) {
    CheckedRuns runs(100);
    runs.recycle(10, 20, /*isZero=*/true);
    runs.cut(10, each.first, each.length);
    runs.check();
    EXPECT_EQ(runs.pieces(), each.pieces);
    runs.recycle(each.first, each.length, true);
    runs.check();
    EXPECT_TRUE(runs.acquire(20).isZero);
  }
}

TEST(FreeRunsTest, RunsOfDifferentOwnersStayApart) {
  CheckedRuns runs(100);
  FreeRuns other;
  other.start(runs.table.get(), CheckedRuns::owner + 1);
  other.recycle({20, 10, false});
  runs.recycle(10, 10);
  runs.recycle(30, 10);
  runs.check();
  EXPECT_EQ(runs.acquire(11).first, 0u);
  EXPECT_EQ(runs.acquireAt(20, 1).first, 0u) << "the other's";
  EXPECT_EQ(runs.runs.endingAt(30).first, 0u) << "the other's";
  EXPECT_EQ(other.endingAt(30).first, 20u);
  EXPECT_EQ(other.freeUnits(), 10u);
}

TEST(FreeRunsTest, ForEachStopsWhenToldTo) {
  CheckedRuns runs(100);
  for (uint32_t i = 0; i < 5; ++i)
    runs.recycle(10 + i * 10, 2 + i);
  unsigned visits = 0;
  runs.runs.forEach([&](Units) { return ++visits < 3; });
  EXPECT_EQ(visits, 3u);
}

TEST(FreeRunsTest, RandomOperations) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](uint32_t max) { return uint32_t(random() % max); };
    uint32_t units = seed % 4 ? 3000 : 300000;
    CheckedRuns runs(units + 2);
    runs.recycle(1, units, true);
    std::vector<Units> taken;
    for (unsigned step = 0; step < 4000 && !testing::Test::HasFailure();
         ++step) {
      Units run;
      if (below(100) < (step / 500 % 2 ? 35 : 60)) {
        uint32_t length = 1 + below(1u << below(10));
        run = runs.acquire(length, below(4) ? 1 : 1u << below(10));
      } else if (!taken.empty()) {
        std::swap(taken[below(uint32_t(taken.size()))], taken.back());
        Units back = taken.back();
        taken.pop_back();
        uint32_t part = below(4) ? 0 : below(back.length);
        if (part) // in two pieces
          runs.recycle(back.first, part, below(2));
        runs.recycle(back.first + part, back.length - part, below(2));
        if (!below(8)) // grows into what has become free behind another
          for (Units &each : taken)
            if (each.end() == back.first + part &&
                runs.acquireAt(back.first + part, back.length - part).first)
              each.length += back.length - part;
      }
      if (run.first)
        taken.push_back(run);
      if (step % 50 == 0)
        runs.check();
    }
    for (Units run : taken)
      runs.recycle(run.first, run.length);
    runs.check();
    EXPECT_EQ(runs.pieces(), 1u) << "seed " << seed;
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}
