// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which page of an array belongs to which thread, against a model that finds
// the owner of the byte in the middle of each page.

#include "numa/SharedArray.h"

#include <gtest/gtest.h>
#include <vector>

using namespace mpg;

namespace {

constexpr size_t page = 4096;

/// \p bytes that begin \p skip after the start of a page.
SharedArray getArray(uint64_t bytes, uint64_t skip, uint64_t step,
                     SharedLoop loop, size_t pageBytes = page) {
  uintptr_t start = (uintptr_t(1) << 40) + skip;
  Range mapped{roundDown(start, pageBytes), roundUp(start + bytes, pageBytes)};
  return SharedArray::of({start, start + bytes}, mapped, pageBytes, step, loop);
}

std::vector<int> ownersByModel(const SharedArray &array) {
  std::vector<int> owners;
  uint64_t iteration = 0;
  for (uintptr_t at = array.pages.start; at < array.pages.end;
       at += array.pageBytes) {
    uintptr_t middle = at + array.pageBytes / 2;
    while (iteration + 1 < array.loop.iterations &&
           array.start + (iteration + 1) * array.step <= middle)
      ++iteration;
    owners.push_back(int(getOwner(array.loop, iteration)));
  }
  return owners;
}

std::vector<int> ownersByRuns(const SharedArray &array,
                              const int16_t *groups = nullptr) {
  std::vector<int> owners;
  OwnedRuns runs(array, groups);
  Range run;
  uintptr_t at = array.pages.start;
  int owner, last = -1;
  while (runs.next(run, owner)) {
    EXPECT_EQ(run.start, at) << "a gap";
    EXPECT_FALSE(run.empty());
    EXPECT_NE(owner, last) << "could be one run";
    owners.insert(owners.end(), run.bytes() / array.pageBytes, owner);
    at = run.end;
    last = owner;
  }
  EXPECT_EQ(at, array.pages.end);
  return owners;
}

std::vector<int> ownersByParts(const SharedArray &array) {
  std::vector<int> owners(array.pages.bytes() / array.pageBytes, -1);
  for (uint32_t thread = 0; thread < array.loop.threads; ++thread) {
    uint64_t first, behind;
    for (uint64_t turn = 0; getPart(array.loop, thread, turn, first, behind);
         ++turn) {
      Range pages = getPages(array, first, behind);
      for (uintptr_t at = pages.start; at < pages.end; at += array.pageBytes) {
        int &owner = owners[(at - array.pages.start) / array.pageBytes];
        EXPECT_EQ(owner, -1) << "two threads for one page";
        owner = int(thread);
      }
    }
  }
  return owners;
}

} // namespace

TEST(SharedArrayTest, EveryPageHasTheOwnerOfItsMiddle) {
  const SharedLoop loops[] = {{0, 0, 0, 1},     {0, 0, 0, 4},    {0, 0, 0, 7},
                              {0, 0, 0, 500},   {0, 1, 1000, 3}, {0, 1, 512, 4},
                              {0, 1, 3, 5},     {0, 1, 5001, 2}, {0, 1, 1, 1},
                              {0, 1, 999999, 4}};
  for (const SharedLoop &loop : loops)
    for (uint64_t step : {1, 8, 24, 4096, 5000, 1 << 20})
      for (uint64_t skip : {0, 8, 4095})
        for (uint64_t bytes : {1, 4096, 4097, 100 * 4096, 100 * 4096 + 17}) {
          SharedArray array = getArray(bytes, skip, step, loop);
          SCOPED_TRACE(testing::Message()
                       << bytes << " bytes, skip " << skip << ", step " << step
                       << ", sched " << loop.sched << ", chunk " << loop.chunk
                       << ", threads " << loop.threads);
          EXPECT_EQ(ownersByRuns(array), ownersByModel(array));
          EXPECT_EQ(ownersByParts(array), ownersByModel(array));
        }
}

TEST(SharedArrayTest, NeighboursOfOneNodeAreOneRun) {
  // 12 threads on 4 nodes, 3 on each: 4 runs.
  SharedArray array = getArray(1200 * page, 0, 8, {0, 0, 0, 12});
  const int16_t close[] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3};
  OwnedRuns runs(array, close);
  Range run;
  int node;
  for (int wanted = 0; wanted < 4; ++wanted) {
    ASSERT_TRUE(runs.next(run, node));
    EXPECT_EQ(node, wanted);
    EXPECT_EQ(run.bytes(), 300 * page);
  }
  EXPECT_FALSE(runs.next(run, node));
  const int16_t inTurn[] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
  std::vector<int> nodes = ownersByRuns(array, inTurn);
  EXPECT_EQ(nodes[99], 0);
  EXPECT_EQ(nodes[100], 1);
  EXPECT_EQ(nodes[400], 0);
  const int16_t same[12] = {};
  OwnedRuns one(array, same);
  ASSERT_TRUE(one.next(run, node));
  EXPECT_EQ(run.bytes(), array.pages.bytes());
  EXPECT_FALSE(one.next(run, node));
}

TEST(SharedArrayTest, PagesAtBordersGoToWhoHasMostOfThem) {
  constexpr size_t large = 2 << 20;
  const std::vector<int> straight = {0, 0, 1, 1, 2, 2, 3, 3};
  // As malloc gives it, a little after the start of a page; and before it. The
  // pages of which the array has but a little are the neighbour's.
  SharedArray behind = getArray(8 * large, 4112, 8, {0, 0, 0, 4}, large);
  EXPECT_EQ(ownersByRuns(behind), straight);
  EXPECT_EQ(behind.pages.start, roundDown(behind.start, large));
  SharedArray before =
      getArray(8 * large, large - 4112, 8, {0, 0, 0, 4}, large);
  EXPECT_EQ(ownersByRuns(before), straight);
  EXPECT_EQ(before.pages.start, roundUp(before.start, large));
}

TEST(SharedArrayTest, NothingReachesOutOfWhatIsMapped) {
  constexpr size_t large = 2 << 20;
  uintptr_t start = (uintptr_t(1) << 40) + page;
  Range bytes{start, start + 4 * large - 2 * page};
  SharedArray array = SharedArray::of(bytes, bytes, large, 8, {0, 0, 0, 4});
  EXPECT_EQ(array.pages.start, bytes.start);
  EXPECT_EQ(array.pages.end, bytes.end);
  OwnedRuns runs(array);
  Range run;
  int owner;
  for (int thread = 0; thread < 4; ++thread) {
    ASSERT_TRUE(runs.next(run, owner));
    EXPECT_EQ(owner, thread);
    EXPECT_EQ(roundUp(run.end, large),
              (uintptr_t(1) << 40) + (thread + 1) * large);
  }
  EXPECT_FALSE(runs.next(run, owner));
}

TEST(SharedArrayTest, APageThatIsMuchLargerIsLeftAlone) {
  SharedArray array = getArray(4 << 20, 4096, 8, {0, 0, 0, 4}, 1 << 30);
  EXPECT_TRUE(array.pages.empty());
  EXPECT_TRUE(ownersByRuns(array).empty());
  EXPECT_TRUE(ownersByParts(array).empty());
}

TEST(SharedArrayTest, ChunksAreFineBelowAPage) {
  EXPECT_TRUE(isFine(getArray(1 << 20, 0, 8, {0, 1, 511, 4})));
  EXPECT_FALSE(isFine(getArray(1 << 20, 0, 8, {0, 1, 512, 4})));
  EXPECT_TRUE(isFine(getArray(1 << 24, 0, 8, {0, 1, 512, 4}, 2 << 20)));
  EXPECT_FALSE(isFine(getArray(1 << 20, 0, 8, {0, 0, 0, 4})));
  EXPECT_FALSE(isFine(getArray(1 << 20, 0, 5000, {0, 1, 1, 4})));
}

TEST(SharedArrayTest, HugeStepsDoNotWrap) {
  for (uint32_t sched : {0u, 1u}) {
    SharedArray array =
        getArray(16 * page, 1, UINT64_MAX, {0, sched, UINT64_MAX, 5});
    EXPECT_EQ(ownersByRuns(array), std::vector<int>(16, 0));
    EXPECT_EQ(getPages(array, 0, 1).bytes(), 16 * page);
  }
}
