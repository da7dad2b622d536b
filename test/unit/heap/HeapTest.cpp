// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heap as a program sees it, in one process for each set of settings:
// length and alignment of blocks, realloc and calloc, when memory is returned,
// who owns a pointer, and the memory of threads that have ended.

#include "HeapUnderTest.h"
#include "HeapWorkload.h"
#include "StderrLines.h"

#include "heap/HeapChecks.h"
#include "heap/HeapLarge.h"
#include "heap/HeapSlabs.h"
#include "mpg/mpg.h"

#include "gtest/gtest.h"

#include <cerrno>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

using namespace mpg;

static constexpr size_t kib = 1 << 10, mib = 1 << 20;

static struct mpg_heap_stats stats() {
  struct mpg_heap_stats now = {};
  now.structBytes = sizeof now;
  EXPECT_EQ(mpg_heap_stats(&now), 0);
  return now;
}

// Sizes

TEST(HeapTest, EverySmallSizeHasTheSmallestClassThatFits) {
  for (size_t bytes = 0; bytes <= maxSmallBytes; ++bytes) {
    unsigned sizeClass = getClass(bytes);
    ASSERT_LT(sizeClass, sizeClasses);
    ASSERT_GE(bytesOfClass(sizeClass), bytes);
    ASSERT_EQ(bytesOfClass(sizeClass) % 16, 0u);
    if (sizeClass > 0) {
      ASSERT_LT(bytesOfClass(sizeClass - 1), bytes);
    }
    // Four classes in each doubling.
    size_t max = bytes < 64 ? bytes + 15 : bytes + bytes / 4;
    ASSERT_LE(bytesOfClass(sizeClass), bytes ? max : 16) << bytes;
  }
}

TEST(HeapTest, AnAlignedSizeHasTheSmallestClassThatIsAligned) {
  for (size_t alignment = 1; alignment <= 2 * slabBytes; alignment *= 2)
    for (size_t bytes = 0; bytes <= maxSmallBytes; ++bytes) {
      unsigned expected = getClass(bytes);
      while (expected < sizeClasses && alignment > 16 &&
             bytesOfClass(expected) % alignment != 0)
        ++expected;
      size_t objectBytes = alignedBytes(bytes, alignment);
      unsigned found =
          objectBytes <= maxSmallBytes ? getClass(objectBytes) : sizeClasses;
      ASSERT_EQ(found, expected) << bytes << " at " << alignment;
    }
}

TEST(HeapTest, EverySizeFits) {
  inChild(heapConfig, [] {
    for (size_t bytes = 0; bytes <= maxSmallBytes + 2; ++bytes) {
      char *block = getBlock(bytes);
      BlockPlace place = findPlace(block);
      ASSERT_EQ(place.kind, bytes <= maxSmallBytes ? BlockPlace::small
                                                   : BlockPlace::medium);
      ASSERT_EQ(place.block.start, uintptr_t(block));
      if (bytes % 3) // neither all in use nor all free
        __wrap_free(block);
    }
  });
}

TEST(HeapTest, OnlyTheFirstByteOfAnObjectIsItsStart) {
  inChild(heapConfig, [] {
    for (unsigned sizeClass = 0; sizeClass < sizeClasses; ++sizeClass) {
      size_t bytes = bytesOfClass(sizeClass);
      std::vector<char *> objects;
      for (size_t i = 0; i < 2 * slabBytes / bytes; ++i) // more than a slab
        objects.push_back(getBlock(bytes));
      for (char *object : {objects[0], objects[1], objects.back()}) {
        ASSERT_EQ(findPlace(object).kind, BlockPlace::small);
        for (size_t offset = 1; offset < bytes; ++offset) {
          BlockPlace place = findPlace(object + offset);
          ASSERT_EQ(place.kind, BlockPlace::inside) << bytes << ", " << offset;
          ASSERT_EQ(place.block.start, uintptr_t(object));
        }
      }
    }
  });
}

TEST(HeapTest, Alignments) {
  inChild(heapConfig, [] {
    std::vector<void *> blocks;
    std::set<uintptr_t> starts;
    for (size_t alignment = 16; alignment <= 64 * mib; alignment *= 2)
      for (size_t bytes : {size_t(0), size_t(1), size_t(100), 14 * kib,
                           14 * kib + 1, 20 * kib, mib, 130 * mib}) {
        auto *block = static_cast<char *>(__wrap_memalign(alignment, bytes));
        ASSERT_NE(block, nullptr) << alignment << ", " << bytes;
        EXPECT_EQ(uintptr_t(block) % alignment, 0u) << bytes;
        EXPECT_GE(__wrap_malloc_usable_size(block), bytes);
        EXPECT_TRUE(starts.insert(uintptr_t(block)).second);
        EXPECT_NE(findPlace(block).kind, BlockPlace::foreign);
        if (bytes)
          block[0] = block[bytes - 1] = 1;
        blocks.push_back(block);
      }
    EXPECT_EQ(mpg_heap_check(), 0);
    for (void *block : blocks)
      __wrap_free(block);
    EXPECT_EQ(stats().usedBytes, 0u);
    EXPECT_EQ(libcAllocations, 0u);
  });
}

TEST(HeapTest, AbsurdSizesAreRefused) {
  inChild(heapConfig, [] {
    for (size_t bytes : {SIZE_MAX, SIZE_MAX - 15, size_t(PTRDIFF_MAX) + 1}) {
      errno = 0;
      EXPECT_EQ(__wrap_malloc(bytes), nullptr);
      EXPECT_EQ(errno, ENOMEM);
      EXPECT_EQ(__wrap_calloc(1, bytes), nullptr);
      EXPECT_EQ(__wrap_memalign(4096, bytes), nullptr);
      char *block = getBlock(100);
      errno = 0;
      EXPECT_EQ(__wrap_realloc(block, bytes), nullptr);
      EXPECT_EQ(errno, ENOMEM);
      __wrap_free(block); // still there
    }
    EXPECT_EQ(__wrap_calloc(SIZE_MAX / 2, 3), nullptr);
    EXPECT_EQ(stats().usedBytes, 0u);
  });
}

// Colours

static size_t differentStarts(size_t bytes, size_t way) {
  std::set<uintptr_t> starts;
  std::vector<char *> blocks;
  for (int i = 0; i < 8; ++i) {
    blocks.push_back(getBlock(bytes));
    starts.insert(uintptr_t(blocks.back()) % way / colorStepBytes);
  }
  for (char *block : blocks) {
    EXPECT_EQ(findPlace(block).block.start, uintptr_t(block));
    __wrap_free(block);
  }
  return starts.size();
}

TEST(HeapTest, EqualArraysBeginInDifferentSets) {
  constexpr size_t way = 16 << 10; // HW:a64fx-l1d-way
  for (bool coloring : {true, false}) {
    Config config = heapConfig;
    config.coloring = coloring;
    config.mmapThresholdBytes = 4 * mib;
    config.forceMmapThreshold = true;
    inChild(config, [coloring] {
      for (size_t bytes : {16 * kib, 64 * kib, 512 * kib, 513 * kib, 4 * mib,
                           6 * mib - 4096, 6 * mib})
        EXPECT_EQ(differentStarts(bytes, coloring ? way : heapPageBytes),
                  coloring ? 8u : 1u)
            << bytes;
      EXPECT_EQ(differentStarts(15 * kib, heapPageBytes), 1u) << "too small";
    });
  }
}

// Contents

TEST(HeapTest, CallocGivesZerosAfterDirtyBlocks) {
  inChild(heapConfig, [] {
    for (int turn = 0; turn < 3; ++turn)
      for (size_t bytes :
           {size_t(1), size_t(100), 14 * kib, 15 * kib, 300 * kib, 3 * mib}) {
        auto *block = static_cast<char *>(__wrap_calloc(bytes, 1));
        size_t all = __wrap_malloc_usable_size(block);
        for (size_t i = 0; i < bytes; ++i)
          ASSERT_EQ(block[i], 0) << bytes << ", " << i;
        memset(block, 0xff, all);
        __wrap_free(block);
      }
  });
}

TEST(HeapTest, ReallocKeepsContentsWhereverItGoes) {
  inChild(heapConfig, [] {
    std::vector<size_t> sizes = {
        1,         16,        100,      14 * kib,  15 * kib,  16 * kib,
        17 * kib,  200 * kib, 3 * mib,  130 * mib, 140 * mib, 131 * mib,
        129 * mib, mib,       20 * kib, 14 * kib,  10};
    for (size_t skip = 1; skip < 5; ++skip) {
      char *block = getBlock(1);
      block[0] = 42;
      size_t marked = 0;
      for (size_t i = 0; i < sizes.size(); i += skip) {
        size_t bytes = sizes[i];
        block = static_cast<char *>(__wrap_realloc(block, bytes));
        ASSERT_NE(block, nullptr);
        ASSERT_GE(__wrap_malloc_usable_size(block), bytes);
        ASSERT_EQ(block[0], 42);
        if (marked && marked < bytes) {
          ASSERT_EQ(block[marked], 43) << bytes;
        }
        marked = bytes - 1;
        block[marked] = marked ? 43 : 42;
      }
      errno = 0;
      EXPECT_EQ(__wrap_realloc(block, 0), nullptr);
      EXPECT_EQ(errno, 0);
    }
    EXPECT_EQ(stats().usedBytes, 0u);
  });
}

TEST(HeapTest, BlocksGrowAndShrinkInPlaceWhereThereIsRoom) {
  Config config = heapConfig;
  config.mmapThresholdBytes = 64 * mib;
  inChild(config, [] {
    heapMap.random = 0;         // the first block where the arena begins
    char *last = getBlock(mib); // with free pages behind it
    EXPECT_EQ(__wrap_realloc(last, mib + 64 * kib), last);
    EXPECT_EQ(__wrap_realloc(last, 20 * mib), last) << "the arena grows";
    last[20 * mib - 1] = 1;
    EXPECT_EQ(__wrap_realloc(last, 100 * kib), last);
    char *next = getBlock(100 * kib);
    EXPECT_LT(next, last + mib) << "what was behind it is free again";
    EXPECT_NE(__wrap_realloc(last, mib), last) << "not into another block";
    char *large = getBlock(64 * mib);
    EXPECT_EQ(__wrap_realloc(large, 80 * mib), large);
    large[80 * mib - 1] = 1;
    EXPECT_EQ(__wrap_realloc(large, 65 * mib), large);
    EXPECT_EQ(findPlace(large).kind, BlockPlace::large);
    EXPECT_LT(__wrap_malloc_usable_size(large), 68 * mib);
  });
}

// Back to the system

static uint64_t measureMappedAfterFree(uint64_t trimBytes) {
  uint64_t mapped = 0;
  Config config = heapConfig;
  config.trimThresholdBytes = trimBytes;
  auto *result =
      static_cast<uint64_t *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  inChild(config, [=] {
    std::vector<char *> blocks;
    for (int i = 0; i < 20; ++i)
      blocks.push_back(getBlock(5 * mib));
    EXPECT_GE(heapSpace.mapped().all(), 100 * mib);
    for (char *block : blocks)
      __wrap_free(block);
    EXPECT_EQ(heapSpace.mapped().all(), readableHeapBytes());
    *result = heapSpace.mapped().all();
    threadCache->medium.clear();
    arenaAt(0).trim(0);
    EXPECT_EQ(heapSpace.mapped().all(), 0u) << "after malloc_trim";
  });
  mapped = *result;
  munmap(result, 4096);
  return mapped;
}

TEST(HeapTest, FreeMemoryGoesBackAsTheSettingsSay) {
  EXPECT_EQ(measureMappedAfterFree(0), 0u);
  uint64_t half = measureMappedAfterFree(50 * mib);
  EXPECT_LT(half, 50 * mib);
  EXPECT_GE(measureMappedAfterFree(200 * mib), 100 * mib);
  // As ARENA_FREE=2 decides.
  EXPECT_GE(measureMappedAfterFree(UINT64_MAX), 100 * mib);
}

TEST(HeapTest, LargeBlocksGoBackAtOnce) {
  inChild(heapConfig, [] {
    char *block = getBlock(200 * mib);
    EXPECT_EQ(largeCounts().blocks, 1u);
    EXPECT_GE(heapSpace.mapped().all(), 200 * mib);
    __wrap_free(block);
    EXPECT_EQ(largeCounts().blocks, 0u);
    EXPECT_EQ(heapSpace.mapped().all(), 0u);
    EXPECT_EQ(readableHeapBytes(), 0u);
  });
}

TEST(HeapTest, TooManyLargeBlocksComeFromTheArena) {
  Config config = heapConfig;
  config.mmapThresholdBytes = mib;
  config.mmapMax = 2;
  inChild(config, [] {
    std::vector<char *> blocks;
    for (int i = 0; i < 4; ++i)
      blocks.push_back(getBlock(3 * mib));
    EXPECT_EQ(largeCounts().blocks, 2u);
    EXPECT_EQ(findPlace(blocks[3]).kind, BlockPlace::medium);
    for (char *block : blocks)
      __wrap_free(block);
    EXPECT_EQ(stats().usedBytes, 0u);
  });
}

// Pointers that are not blocks

/// The message of free() for \p pointer.
static std::string freed(void *pointer) {
  StderrLines lines;
  errno = 5;
  __wrap_free(pointer);
  EXPECT_EQ(errno, 5);
  auto said = lines.drain();
  EXPECT_LE(said.size(), 1u);
  return said.empty() ? "" : said[0];
}

static void expectSaid(const std::string &line, const char *what) {
  EXPECT_NE(line.find(what), std::string::npos) << '"' << line << '"';
}

static void freeWhatIsNoBlock() {
  long local[4] = {};
  expectSaid(freed(local + 2), "not from this heap");
  for (size_t bytes : {size_t(100), 14 * kib, 100 * kib, 200 * mib}) {
    char *block = getBlock(bytes);
    expectSaid(freed(block + 16), "points into a block, not at its start");
    expectSaid(freed(block + bytes - 1), "points into a block");
    EXPECT_EQ(freed(block), "");
    expectSaid(freed(block), "block was freed before");
    EXPECT_EQ(freed(nullptr), "");
  }
  // The heap is as it was.
  HeapWorkload work(1, {300 * kib, 0}, false);
  work.run(1000);
  work.finish();
  EXPECT_EQ(work.problem(), "");
  EXPECT_EQ(mpg_heap_check(), 0);
}

TEST(HeapTest, PointersThatAreNoBlocksAreToldOf) {
  Config config = heapConfig;
  config.check = 1;
  inChild(config, freeWhatIsNoBlock);
  config.checkGiven = true; // with guards
  inChild(config, freeWhatIsNoBlock);
  config.arenaLockType = 0;
  inChild(config, freeWhatIsNoBlock);
}

TEST(HeapTest, WritesPastTheEndAreFoundWithGuards) {
  Config config = heapConfig;
  config.check = 1;
  config.checkGiven = true;
  inChild(config, [] {
    for (size_t bytes : {size_t(0), size_t(1), size_t(24), size_t(100),
                         14 * kib, 100 * kib, 150 * mib}) {
      char *block = getBlock(bytes);
      EXPECT_EQ(__wrap_malloc_usable_size(block), bytes);
      memset(block, 1, bytes);
      EXPECT_EQ(freed(block), "") << bytes;
      for (size_t past : {0, 7, 15}) {
        block = getBlock(bytes);
        block[bytes + past] ^= 1;
        StderrLines lines;
        EXPECT_EQ(mpg_heap_check(), 1) << bytes << " + " << past;
        expectSaid(freed(block), "written past its end");
      }
    }
  });
}

TEST(HeapTest, ABlockThatIsWrittenToAfterItIsFreedCostsNoMalloc) {
  Config config = heapConfig;
  config.check = 0;
  inChild(config, [] {
    std::vector<char *> blocks;
    for (int i = 0; i < 4000; ++i)
      blocks.push_back(getBlock(64));
    for (char *block : blocks)
      __wrap_free(block);
    for (char *block : blocks)
      memset(block, 0, 64);
    for (size_t i = 0; i < blocks.size(); ++i)
      ASSERT_NE(__wrap_malloc(64), nullptr) << i;
  });
}

TEST(HeapTest, AFullRangeLeavesItToTheCLibrary) {
  inChild(heapConfig, [] {
    size_t range = heapSpace.range().bytes();
    EXPECT_EQ(__wrap_malloc(range + libcMostBytes), nullptr);
    EXPECT_EQ(libcAllocations, 1u);
    // Addresses alone, so that the next block finds none.
    Range rest;
    for (size_t bytes = range / 2; bytes >= heapSpace.hugePageBytes();)
      if (heapSpace.acquire(bytes, heapSpace.hugePageBytes(), {}, rest) != 0)
        bytes = roundDown(bytes / 2, heapSpace.hugePageBytes());
    auto *block = static_cast<char *>(__wrap_malloc(300 * kib));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(findPlace(block).kind, BlockPlace::foreign);
    EXPECT_GE(__wrap_malloc_usable_size(block), 300 * kib);
    for (size_t bytes : {300 * kib, 130 * mib}) {
      auto *zero = static_cast<char *>(__wrap_calloc(1, bytes));
      ASSERT_EQ(findPlace(zero).kind, BlockPlace::foreign);
      EXPECT_EQ(zero[0] | zero[bytes / 2] | zero[bytes - 1], 0) << bytes;
      __wrap_free(zero);
    }
    block[0] = 42;
    block = static_cast<char *>(__wrap_realloc(block, 400 * kib));
    EXPECT_EQ(block[0], 42);
    unsigned before = libcFrees;
    __wrap_free(block);
    EXPECT_EQ(libcFrees, before + 1);
  });
}

TEST(HeapTest, PerturbFillsNewAndFreedMemory) {
  Config config = heapConfig;
  config.perturb = 0x5a;
  inChild(config, [] {
    for (size_t bytes : {size_t(100), 20 * kib}) {
      char *block = getBlock(bytes);
      for (size_t i = 0; i < bytes; ++i)
        ASSERT_EQ(static_cast<unsigned char>(block[i]), 0xa5);
      auto *zero = static_cast<char *>(__wrap_calloc(1, bytes));
      for (size_t i = 0; i < bytes; ++i)
        ASSERT_EQ(zero[i], 0);
      __wrap_free(block);
      for (size_t i = 16; i < bytes; ++i) // after the heap's own words
        ASSERT_EQ(block[i], 0x5a);
    }
  });
}

// Threads

TEST(HeapTest, ThreadsFreeEachOthersBlocks) {
  for (unsigned lockType : {0, 1}) {
    Config config = heapConfig;
    config.arenaLockType = lockType;
    inChild(config, [] {
      for (int turn = 0; turn < 3; ++turn) {
        std::vector<char *> blocks;
        std::thread([&] {
          for (size_t i = 0; i < 20000; ++i)
            blocks.push_back(getBlock(i % 50 ? i % 700 : i));
        }).join();
        uint64_t mapped = heapSpace.mapped().all();
        for (char *block : blocks)
          __wrap_free(block);
        EXPECT_EQ(stats().usedBytes, 0u);
        EXPECT_LE(heapSpace.mapped().all(), mapped) << "nothing new to free it";
      }
    });
  }
}

TEST(HeapTest, ThreadsThatEndLeaveTheirCacheToTheNext) {
  for (unsigned lockType : {0, 1}) {
    Config config = heapConfig;
    config.arenaLockType = lockType;
    inChild(config, [] {
      __wrap_free(__wrap_malloc(1));
      uint64_t max = 0;
      for (int i = 0; i < 1000; ++i)
        std::thread([&] {
          char *small = getBlock(100), *medium = getBlock(40 * kib);
          memset(medium, 1, 40 * kib);
          __wrap_free(medium);
          __wrap_free(small);
          if (heapSpace.mapped().all() > max)
            max = heapSpace.mapped().all();
        }).join();
      EXPECT_LE(stats().threadCaches, 2u);
      EXPECT_LE(stats().arenas, 2u);
      EXPECT_EQ(stats().usedBytes, 0u);
      EXPECT_LE(max, 8 * mib);
    });
  }
}

/// Arenas that \p count threads make while all of them are there.
static void expectArenas(Config config, unsigned min, unsigned max) {
  inChild(config, [=] {
    std::atomic<unsigned> wrong{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i)
      threads.emplace_back([&wrong, i] {
        HeapWorkload work(i, {200 * kib, 0}, false);
        work.run(5000);
        work.finish();
        wrong += !work.problem().empty();
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_GE(stats().arenas, min);
    EXPECT_LE(stats().arenas, max);
    EXPECT_EQ(stats().usedBytes, 0u);
    EXPECT_EQ(mpg_heap_check(), 0);
  });
}

TEST(HeapTest, NumberOfArenas) {
  Config config = heapConfig;
  expectArenas(config, 1, 1);
  config.maxArenaNum = 3;
  expectArenas(config, 1, 3);
  config.arenaLockType = 0;
  config.maxArenaNum = 1;
  expectArenas(config, 2, 5); // with the first one, of no thread here
}

/// Arena of the block at \p start, which is one of pages.
static unsigned readArena(const char *start) {
  return heapMap.pages[getPage(uintptr_t(start))].owner;
}
static bool isKept(const char *start) {
  return heapMap.pages[getPage(uintptr_t(start))].state == UnitState::cached;
}

/// A block comes and goes: free() looks at the one that malloc() gave last.
static void expectReuse(size_t bytes) {
  char *block = getBlock(bytes);
  EXPECT_EQ(freed(block), "") << bytes;
  EXPECT_EQ(getBlock(bytes), block) << bytes;
  EXPECT_EQ(freed(block), "") << bytes;
  EXPECT_TRUE(isKept(block)) << bytes;
  expectSaid(freed(block), "block was freed before");
}

TEST(HeapTest, TheLastBlockOfAnArenaThatTheThreadLeftGoesBackThere) {
  Config config = heapConfig;
  config.check = 1;
  config.maxArenaNum = 2;
  for (size_t bytes : {20 * kib, 100 * kib, mib})
    inChild(config, [=] {
      expectReuse(bytes);
      char *block = getBlock(bytes), *other;
      {
        Locked busy(arenaAt(uint16_t(readArena(block))).lock);
        other = getBlock(4 * bytes);
      }
      EXPECT_NE(readArena(other), readArena(block));
      EXPECT_EQ(freed(block), "");
      EXPECT_FALSE(isKept(block));
      expectSaid(freed(block), "block was freed before");
      EXPECT_EQ(freed(other), "");
      EXPECT_TRUE(isKept(other));
      expectReuse(bytes);
      EXPECT_EQ(stats().usedBytes, 0u);
      EXPECT_EQ(mpg_heap_check(), 0);
    });
}

/// A thread ends with the block that it got last; the next thread, which has
/// its cache, frees that. \p hasPages: it has got and freed blocks of pages
/// before.
static void freeInHeir(size_t bytes, bool hasPages) {
  char *block = nullptr;
  std::thread([&] {
    expectReuse(bytes);
    block = getBlock(bytes);
  }).join();
  std::thread([&] {
    __wrap_free(getBlock(16));
    if (hasPages)
      expectReuse(2 * bytes);
    EXPECT_EQ(freed(block), "");
    EXPECT_EQ(isKept(block), hasPages);
    expectSaid(freed(block), "block was freed before");
    expectReuse(bytes);
  }).join();
  expectSaid(freed(block), "block was freed before");
  EXPECT_LE(stats().threadCaches, 2u);
  EXPECT_EQ(stats().usedBytes, 0u);
  EXPECT_EQ(mpg_heap_check(), 0);
}

TEST(HeapTest, TheLastBlockOfAThreadOutlivesIt) {
  Config config = heapConfig;
  config.check = 1;
  config.coloring = false; // else those that nobody writes to share pages
  for (unsigned lockType : {0, 1})
    for (size_t bytes : {20 * kib, 100 * kib, mib}) {
      config.arenaLockType = lockType;
      for (bool hasPages : {false, true})
        inChild(config, [=] { freeInHeir(bytes, hasPages); });
    }
}

// Anything

TEST(HeapTest, RandomUse) {
  for (unsigned seed = 1; seed <= 16; ++seed) {
    Config config = heapConfig;
    config.mode = seed % 4 ? Mode::thp : Mode::automatic;
    config.arenaLockType = seed % 2;
    config.mmapThresholdBytes = 4 * mib;
    config.forceMmapThreshold = seed % 3 == 0;
    config.trimThresholdBytes = seed % 5 ? 20 * mib : 0;
    config.checkGiven = seed % 4 == 1;
    config.perturb = seed % 8 == 2 ? 0x77 : 0;
    inChild(config, [seed] {
      std::thread([seed] { // one that ends keeps nothing
        HeapWorkload work(seed, {300 * kib, 12 * mib}, false);
        work.run(4000);
        EXPECT_EQ(mpg_heap_check(), 0);
        work.finish();
        EXPECT_EQ(work.problem(), "") << "seed " << seed;
      })
          .join();
      EXPECT_EQ(stats().usedBytes, 0u) << "seed " << seed;
      EXPECT_EQ(mpg_heap_check(), 0);
      slabFrames.releaseSpare();
      for (unsigned i = 0; i < arenaCount(); ++i)
        arenaAt(uint16_t(i)).trim(0);
      EXPECT_EQ(heapSpace.mapped().all(), 0u) << "seed " << seed;
      EXPECT_EQ(readableHeapBytes(), 0u);
      EXPECT_EQ(libcAllocations, 0u);
    });
  }
}
