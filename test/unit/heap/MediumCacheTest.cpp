// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread's cache of medium blocks: which of them it reuses, and that unused
// ones make room.

#include "HeapUnderTest.h"

#include "heap/MediumCache.h"

#include "gtest/gtest.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

using namespace mpg;

static constexpr size_t kib = 1 << 10, mib = 1 << 20;

/// \p bytes in blocks of \p blockBytes.
static std::vector<void *> getMany(size_t bytes, size_t blockBytes) {
  std::vector<void *> blocks;
  for (size_t got = 0; got < bytes; got += blockBytes)
    blocks.push_back(getBlock(blockBytes));
  return blocks;
}

static void freeAll(const std::vector<void *> &blocks) {
  for (void *block : blocks)
    __wrap_free(block);
}

/// How many of the blocks that were freed wait to be used again.
static size_t countKept(const std::vector<void *> &freed) {
  size_t kept = 0;
  for (void *block : freed)
    kept += heapMap.pages[getPage(uintptr_t(block))].state == UnitState::cached;
  return kept;
}

TEST(MediumCacheTest, ABlockServesForAFifthLess) {
  inChild(heapConfig, [] {
    void *block = getBlock(200 * kib);
    __wrap_free(block);
    void *less = getBlock(165 * kib);
    EXPECT_EQ(less, block);
    __wrap_free(less);
    void *muchLess = getBlock(150 * kib);
    EXPECT_NE(muchLess, block);
    EXPECT_EQ(countKept({block}), 1u);
    __wrap_free(muchLess);
  });
}

TEST(MediumCacheTest, LongBlocksServeAgain) {
  inChild(heapConfig, [] {
    for (size_t bytes : {300 * kib, 500 * kib, mib, 3 * mib, 8 * mib}) {
      void *block = getBlock(bytes);
      __wrap_free(block);
      EXPECT_EQ(countKept({block}), 1u) << bytes;
      void *less = getBlock(bytes * 9 / 10);
      EXPECT_EQ(less, block) << bytes;
      EXPECT_EQ(countKept({block}), 0u) << bytes;
      __wrap_free(less);
    }
    void *block = getBlock(11 * mib);
    __wrap_free(block);
    EXPECT_EQ(countKept({block}), 0u);
  });
}

TEST(MediumCacheTest, TheLastBlockServesForAsManyBytes) {
  inChild(heapConfig, [] {
    for (size_t bytes : {15 * kib, 16 * kib, 100 * kib, 256 * kib, 3 * mib}) {
      __wrap_free(getBlock(bytes)); // new memory leaves no note of its size
      void *block = getBlock(bytes);
      __wrap_free(block);
      EXPECT_EQ(getBlock(bytes), block) << bytes;
      void *more = getBlock(bytes * 2);
      EXPECT_NE(more, block);
      __wrap_free(block);
      __wrap_free(more);
    }
  });
}

TEST(MediumCacheTest, ABlockThatBecameShorterServesForLess) {
  inChild(heapConfig, [] {
    for (size_t bytes : {100 * kib, 250 * kib, mib}) {
      __wrap_free(getBlock(bytes));
      void *block = getBlock(bytes), *less = __wrap_realloc(block, bytes / 2);
      EXPECT_EQ(less, block) << bytes;
      void *behind = getBlock(bytes / 3);
      __wrap_free(less);
      char *again = getBlock(bytes); // looks at its room
      EXPECT_GE(__wrap_malloc_usable_size(again), bytes);
      bool isApart = again + bytes <= behind ||
                     again >= static_cast<char *>(behind) + bytes / 3;
      EXPECT_TRUE(isApart) << bytes;
      __wrap_free(behind);
      __wrap_free(again);
    }
  });
}

TEST(MediumCacheTest, ASinglePageIsNotKept) {
  inChild(heapConfig, [] {
    void *page = __wrap_memalign(64 * kib, 100);
    __wrap_free(page);
    EXPECT_EQ(countKept({page}), 0u);
  });
}

TEST(MediumCacheTest, LongBlocksGoBeforeTheHeapGrowsForOne) {
  inChild(heapConfig, [] {
    freeAll(getMany(12 * mib, 3 * mib));
    uint64_t before = heapSpace.mapped().all();
    __wrap_free(getBlock(11 * mib));
    EXPECT_EQ(heapSpace.mapped().all(), before);
  });
}

TEST(MediumCacheTest, ABlockGrowsIntoAKeptOne) {
  inChild(heapConfig, [] {
    void *block = getBlock(mib), *next = getBlock(mib);
    void *last = getBlock(mib);
    __wrap_free(next);
    EXPECT_EQ(countKept({next}), 1u);
    EXPECT_EQ(__wrap_realloc(block, 3 * mib / 2), block);
    __wrap_free(block);
    __wrap_free(last);
  });
}

TEST(MediumCacheTest, SizesThatAreAskedForInVainGetRoom) {
  inChild(heapConfig, [] {
    freeAll(getMany(64 * mib, 250 * kib));
    auto blocks = getMany(2 * mib, 40 * kib);
    freeAll(blocks);
    EXPECT_GT(countKept(blocks), blocks.size() * 3 / 4);
  });
}

TEST(MediumCacheTest, OtherSizesGetNone) {
  inChild(heapConfig, [] {
    auto blocks = getMany(2 * mib, 40 * kib);
    freeAll(getMany(64 * mib, 250 * kib));
    freeAll(blocks);
    EXPECT_LT(countKept(blocks), blocks.size() / 2);
  });
}

/// Returns when \p count threads that have a cache are here.
static void meet(std::atomic<unsigned> &here, unsigned count) {
  __wrap_free(getBlock(100 * kib));
  for (++here; here < count;)
    std::this_thread::yield();
}

TEST(MediumCacheTest, FewThreadsKeepFewMiBFromEachOther) {
  constexpr size_t each = 32 * mib, kept = 32 * mib, frames = 4 * mib;
  inChild(heapConfig, [] {
    std::mutex mutex;
    std::condition_variable changed;
    unsigned ready = 0;
    std::atomic<unsigned> here{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        meet(here, 3);
        freeAll(getMany(each, 100 * kib));
        std::unique_lock hold(mutex);
        ++ready;
        changed.notify_all();
        changed.wait(hold, [&] { return ready > 3; });
      });
    std::unique_lock hold(mutex);
    changed.wait(hold, [&] { return ready == 3; });
    auto blocks = getMany(3 * each, 100 * kib);
    EXPECT_LE(heapSpace.mapped().all(), 3 * each * 104 / 100 + kept + frames);
    freeAll(blocks);
    ready = 4;
    changed.notify_all();
    hold.unlock();
    for (std::thread &thread : threads)
      thread.join();
  });
}

TEST(MediumCacheTest, ThreadsThatEndedKeepNothingFromOthers) {
  constexpr unsigned count = 40;
  inChild(heapConfig, [] {
    std::atomic<unsigned> here{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < count; ++i)
      threads.emplace_back([&] { meet(here, count); });
    for (std::thread &thread : threads)
      thread.join();
    auto blocks = getMany(12 * mib, 100 * kib);
    freeAll(blocks);
    EXPECT_EQ(countKept(blocks), blocks.size());
  });
}
