// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heap's range and its frames: allocated memory is zero, aligned, and not
// shared; freed memory is gone for the kernel, too.

#include "HeapUnderTest.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace mpg;

static constexpr size_t mib2 = 2 << 20;

static Config thp() {
  Config config;
  config.mode = Mode::thp;
  return config;
}

/// Asks the kernel, so that unreadable memory does no harm.
static bool isReadable(uintptr_t address) {
  int pipes[2];
  if (pipe(pipes) != 0)
    return false;
  bool readable = write(pipes[1], reinterpret_cast<void *>(address), 1) == 1;
  close(pipes[0]);
  close(pipes[1]);
  return readable;
}

/// Where memory of the heap went away, as another thread would see it that
/// calls mmap at this moment.
static void (*afterMunmap)(void *start, size_t bytes);

/// Instead of the C library's, which the heap calls.
extern "C" int munmap(void *start, size_t bytes) noexcept {
  int result = int(syscall(SYS_munmap, start, bytes));
  if (afterMunmap)
    afterMunmap(start, bytes);
  return result;
}

static bool isZero(Range memory) {
  auto *bytes = reinterpret_cast<const char *>(memory.start);
  return bytes[0] == 0 && memcmp(bytes, bytes + 1, memory.bytes() - 1) == 0;
}

static void dirty(Range memory) {
  memset(reinterpret_cast<void *>(memory.start), 0xff, memory.bytes());
}

TEST(HeapSpaceTest, MemoryComesZeroAndGoesBack) {
  for (Mode mode : {Mode::thp, Mode::automatic, Mode::hugetlb}) {
    Config config;
    config.mode = mode;
    inChild(config, [] {
      EXPECT_EQ(heapSpace.mapped().all(), 0u);
      for (int turn = 0; turn < 3; ++turn) {
        Range memory;
        ASSERT_EQ(heapSpace.acquire(3 * mib2, mib2, {}, memory), 0);
        EXPECT_EQ(memory.bytes(), 3 * mib2);
        EXPECT_EQ(memory.start % mib2, 0u);
        EXPECT_TRUE(heapSpace.range().contains(memory.start));
        EXPECT_TRUE(isZero(memory)) << "also the second time";
        dirty(memory);
        EXPECT_EQ(heapSpace.mapped().all(), 3 * mib2);
        EXPECT_EQ(readableHeapBytes(), 3 * mib2);
        heapSpace.recycle(memory);
        EXPECT_FALSE(isReadable(memory.start));
        EXPECT_EQ(heapSpace.mapped().all(), 0u);
        EXPECT_EQ(readableHeapBytes(), 0u);
      }
      EXPECT_EQ(heapSpace.peakBytes(), 3 * mib2);
    });
  }
}

TEST(HeapSpaceTest, Alignment) {
  inChild(thp(), [] {
    std::vector<Range> all;
    for (size_t alignment = mib2; alignment <= size_t(8) << 30;
         alignment *= 2) {
      Range memory;
      ASSERT_EQ(heapSpace.acquire(mib2, alignment, {}, memory), 0) << alignment;
      EXPECT_EQ(memory.start % alignment, 0u);
      EXPECT_EQ(memory.bytes(), mib2);
      for (Range other : all)
        EXPECT_FALSE(memory.overlaps(other));
      all.push_back(memory);
    }
    EXPECT_EQ(heapSpace.mapped().all(), all.size() * mib2)
        << "no memory for the way to an aligned address";
    Range none;
    EXPECT_EQ(heapSpace.acquire(mib2, size_t(1) << 62, {}, none), ENOSPC);
  });
}

TEST(HeapSpaceTest, TakeAtExtendsWhatIsThere) {
  inChild(thp(), [] {
    Range first, second;
    ASSERT_EQ(heapSpace.acquire(mib2, mib2, {}, first), 0);
    EXPECT_EQ(heapSpace.acquireAt(first.start, mib2, {}), ENOSPC) << "taken";
    ASSERT_EQ(heapSpace.acquireAt(first.end, 2 * mib2, {}), 0);
    EXPECT_TRUE(isZero({first.end, first.end + 2 * mib2}));
    EXPECT_EQ(heapSpace.acquireAt(first.end, mib2, {}), ENOSPC) << "taken";
    // Beyond the range, at either side.
    Range range = heapSpace.range();
    EXPECT_EQ(heapSpace.acquireAt(range.start - mib2, mib2, {}), ENOSPC);
    EXPECT_EQ(heapSpace.acquireAt(range.end - mib2, 2 * mib2, {}), ENOSPC);
    EXPECT_EQ(heapSpace.acquireAt(range.end, mib2, {}), ENOSPC);
    // All of it at once, though it came in two pieces.
    heapSpace.recycle({first.start, first.end + 2 * mib2});
    EXPECT_EQ(heapSpace.mapped().all(), 0u);
    ASSERT_EQ(heapSpace.acquire(3 * mib2, mib2, {}, second), 0);
    EXPECT_EQ(second.start, first.start) << "free addresses are one again";
    // The middle alone.
    heapSpace.recycle({first.start + mib2, first.start + 2 * mib2});
    EXPECT_EQ(heapSpace.mapped().all(), 2 * mib2);
    EXPECT_TRUE(isReadable(first.start));
    EXPECT_FALSE(isReadable(first.start + mib2));
    EXPECT_TRUE(isReadable(first.start + 2 * mib2));
  });
}

/// An arena's end can be where its memory was and others' have been: not at
/// the start of what is free.
TEST(HeapSpaceTest, TakeAtIsRightOnWhereverItIsAsked) {
  inChild(thp(), [] {
    Range all;
    ASSERT_EQ(heapSpace.acquire(4 * mib2, mib2, {}, all), 0);
    heapSpace.recycle({all.start, all.start + 3 * mib2});
    std::vector<uintptr_t> taken = {all.end - mib2};
    for (int i : {2, 1, 0, 2, 1, 0}) {
      uintptr_t start = all.start + i * mib2;
      bool isTaken = std::count(taken.begin(), taken.end(), start);
      int error = heapSpace.acquireAt(start, mib2, {});
      EXPECT_TRUE(error == 0 || error == ENOSPC);
      EXPECT_FALSE(isTaken && error == 0) << "hugeBytes " << i << " is in use";
      if (error == 0)
        taken.push_back(start);
    }
    for (int i = 0; i < 20; ++i) {
      Range memory;
      ASSERT_EQ(heapSpace.acquire(mib2, mib2, {}, memory), 0);
      EXPECT_EQ(std::count(taken.begin(), taken.end(), memory.start), 0)
          << "was in use";
      taken.push_back(memory.start);
    }
    EXPECT_EQ(heapSpace.mapped().all(), taken.size() * mib2);
    EXPECT_EQ(readableHeapBytes(), taken.size() * mib2);
  });
}

TEST(HeapSpaceTest, AFullRangeSaysSoAndWorksAgain) {
  inChild(thp(), [] {
    constexpr size_t step = size_t(1) << 30;
    Range none;
    EXPECT_EQ(heapSpace.acquire(heapSpace.range().bytes(), mib2, {}, none),
              ENOSPC);
    std::vector<Range> all;
    Range memory;
    int error;
    while ((error = heapSpace.acquire(step, mib2, {}, memory)) == 0)
      all.push_back(memory);
    EXPECT_EQ(error, ENOSPC);
    EXPECT_GE(all.size(), heapSpace.range().bytes() / step - 1);
    std::sort(all.begin(), all.end(),
              [](Range a, Range b) { return a.start < b.start; });
    for (size_t i = 1; i < all.size(); ++i)
      EXPECT_LE(all[i - 1].end, all[i].start);
    for (size_t i = 0; i < all.size(); i += 2)
      heapSpace.recycle(all[i]);
    for (size_t i = 1; i < all.size(); i += 2)
      heapSpace.recycle(all[i]);
    EXPECT_EQ(heapSpace.mapped().all(), 0u);
    EXPECT_EQ(readableHeapBytes(), 0u);
    EXPECT_EQ(heapSpace.acquire(2 * step, mib2, {}, memory), 0)
        << "neighbours have become one";
  });
}

/// No kernel has pages of 4 MiB: a pool that never has any.
TEST(HeapSpaceTest, WithoutAPoolAndWithoutFallbackThereIsNone) {
  Config config;
  config.mode = Mode::hugetlb;
  config.hugeBytes = 4 << 20;
  config.fallback = false;
  inChild(config, [] {
    Range memory;
    size_t max = heapSpace.range().bytes() / 2;
    for (int i = 0; i < 20; ++i) // the addresses are free again
      EXPECT_EQ(heapSpace.acquire(max, 4 << 20, {}, memory), ENOMEM);
    EXPECT_EQ(heapSpace.mapped().all(), 0u);
    EXPECT_EQ(readableHeapBytes(), 0u);
  });
  config.fallback = true;
  inChild(config, [] {
    Range memory;
    ASSERT_EQ(heapSpace.acquire(8 << 20, 4 << 20, {}, memory), 0);
    EXPECT_TRUE(isZero(memory));
    EXPECT_EQ(heapSpace.mapped().normal, 8u << 20) << "mode hugetlb";
  });
}

TEST(HeapSpaceTest, MemoryOfANode) {
  inChild(thp(), [] {
    Range memory;
    ASSERT_EQ(heapSpace.acquire(mib2, mib2, {0}, memory), 0);
    EXPECT_TRUE(isZero(memory));
    EXPECT_EQ(heapSpace.acquire(mib2, mib2, {1000}, memory), ENOMEM)
        << "no machine has that many";
    EXPECT_EQ(heapSpace.mapped().all(), mib2);
  });
}

TEST(HeapSpaceTest, MetadataIsZeroAlignedAndForEver) {
  inChild(thp(), [] {
    uint64_t before = heapSpace.metadataBytes();
    std::vector<char *> all;
    for (size_t bytes : {1, 63, 64, 65, 4096, 262144, 1 << 20}) {
      auto *memory = static_cast<char *>(heapSpace.metadata(bytes));
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(uintptr_t(memory) % 64, 0u);
      EXPECT_FALSE(heapSpace.range().contains(uintptr_t(memory)));
      EXPECT_EQ(std::count(memory, memory + bytes, 0), long(bytes));
      memset(memory, 1, bytes);
    }
    EXPECT_GE(heapSpace.metadataBytes(), before + (1 << 20) + 262144);
    EXPECT_EQ(heapSpace.metadata(size_t(1) << 62), nullptr);
  });
}

TEST(HeapSpaceTest, ThreadsGetMemoryOfTheirOwn) {
  inChild(thp(), [] {
    std::atomic<int> wrong{0};
    auto use = [&](uintptr_t name) {
      for (int turn = 0; turn < 200; ++turn) {
        Range memory;
        size_t bytes = mib2 * (1 + (turn + name) % 5);
        if (heapSpace.acquire(bytes, mib2, {}, memory) != 0) {
          ++wrong;
          continue;
        }
        auto *word = reinterpret_cast<volatile uintptr_t *>(memory.start);
        wrong += *word != 0;
        *word = name;
        std::this_thread::yield();
        wrong += *word != name;
        heapSpace.recycle(memory);
      }
    };
    std::vector<std::thread> threads;
    for (uintptr_t name = 1; name <= 4; ++name)
      threads.emplace_back(use, name);
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(heapSpace.mapped().all(), 0u);
    EXPECT_EQ(readableHeapBytes(), 0u);
  });
}

/// The range is chosen and not mapped: others may ask for addresses in it.
TEST(HeapSpaceTest, WhatLiesInItsGapsIsNotTheHeaps) {
  inChild(thp(), [] {
    Range memory;
    ASSERT_EQ(heapSpace.acquire(2 * mib2, mib2, {}, memory), 0);
    static uintptr_t taken;
    afterMunmap = [](void *start, size_t) {
      afterMunmap = nullptr;
      void *block = mmap(start, mib2, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
      EXPECT_EQ(block, start);
      EXPECT_EQ(findPlace(block).kind, BlockPlace::foreign) << "at once";
      taken = uintptr_t(block);
    };
    heapSpace.recycle(memory);
    ASSERT_EQ(taken, memory.start);
    auto *block = reinterpret_cast<char *>(taken);
    *block = 1;
    Range other;
    ASSERT_EQ(heapSpace.acquire(2 * mib2, mib2, {}, other), 0);
    EXPECT_FALSE(other.overlaps(memory)) << "these addresses are gone";
    EXPECT_EQ(*block, 1) << "not mapped over it";
    EXPECT_EQ(findPlace(block).kind, BlockPlace::foreign);
  });
}

TEST(HeapSpaceTest, WhatWasGivenBackIsFreedAndNotForeign) {
  inChild(thp(), [] {
    Range memory;
    ASSERT_EQ(heapSpace.acquire(mib2, mib2, {}, memory), 0);
    heapSpace.recycle(memory);
    auto *block = reinterpret_cast<void *>(memory.start);
    EXPECT_EQ(findPlace(block).kind, BlockPlace::freed);
  });
}
