// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread's cache of medium blocks: which of them it reuses, and that unused
// ones make room.

#include "HeapUnderTest.h"

#include "heap/HeapMedium.h"

#include "gtest/gtest.h"

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

TEST(MediumCacheTest, ABlockServesForAnEighthLess) {
  inChild(heapConfig, [] {
    void *block = getBlock(200 * kib);
    __wrap_free(block);
    void *less = getBlock(185 * kib);
    EXPECT_EQ(less, block);
    __wrap_free(less);
    void *muchLess = getBlock(170 * kib);
    EXPECT_NE(muchLess, block);
    EXPECT_EQ(countKept({block}), 1u);
    __wrap_free(muchLess);
  });
}

TEST(MediumCacheTest, SizesThatAreNotWantedAnyMoreMakeRoom) {
  inChild(heapConfig, [] {
    freeAll(getMany(64 * mib, 250 * kib));
    auto blocks = getMany(2 * mib, 40 * kib);
    freeAll(blocks);
    EXPECT_LT(countKept(blocks), blocks.size())
        << "the large ones leave no room";
    for (int i = 0; i < 100 && countKept(blocks) < blocks.size(); ++i) {
      blocks = getMany(2 * mib, 40 * kib);
      freeAll(blocks);
    }
    EXPECT_EQ(countKept(blocks), blocks.size());
  });
}

TEST(MediumCacheTest, FewThreadsKeepFewMiBFromEachOther) {
  constexpr size_t each = 32 * mib, kept = 16 * mib, frames = 4 * mib;
  inChild(heapConfig, [] {
    std::mutex mutex;
    std::condition_variable changed;
    unsigned ready = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
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
