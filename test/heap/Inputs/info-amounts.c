/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Allocates blocks of all kinds, frees them in different ways, and compares the
 * heap's report with the sum of malloc_usable_size. The argument: number of
 * large blocks, 1 or 0.
 */
#define _GNU_SOURCE
#include "info-expect.h"

#include <malloc.h>
#include <pthread.h>

enum { SMALL = 3000, MEDIUM = 40, BLOCKS = SMALL + MEDIUM + 1 };

static void *blocks[BLOCKS];
static int maxLarge; /* of these that have pages of their own */

/* Sum of malloc_usable_size over all blocks. */
static size_t take(void) {
  size_t usable = 0;
  for (int i = 0; i < BLOCKS; i++) {
    size_t bytes = i < SMALL            ? 1 + i % 14000
                   : i < SMALL + MEDIUM ? 20000 * (i - SMALL + 1)
                                        : 130 * MIB;
    blocks[i] = malloc(bytes);
    usable += malloc_usable_size(blocks[i]);
  }
  return usable;
}

static void *give(void *unused) {
  for (int i = 0; i < BLOCKS; i++)
    free(blocks[i]);
  return unused;
}

/* A thread that allocates blocks before it frees ours. */
static void *allocateAndFree(void *unused) {
  void *volatile own = malloc(100);
  free(own);
  return give(unused);
}

static void checkSums(void) {
  struct mpg_heap_stats stats = statsNow();
  struct mallinfo2 info = mallinfo2();
  EXPECT(stats.structBytes, ==, sizeof stats);
  EXPECT(stats.hugeBytes + stats.thpBytes + stats.normalBytes, ==,
         stats.mappedBytes);
  EXPECT(stats.usedBytes + stats.freeBytes, <=, stats.mappedBytes);
  EXPECT(stats.mappedBytes, <=, stats.peakMappedBytes);
  EXPECT(stats.hugeBytes, <=, stats.peakHugeBytes);
  EXPECT(stats.mappedBytes, <=, stats.reservedBytes);
  EXPECT(info.arena + info.hblkhd, ==, stats.mappedBytes);
  EXPECT(info.uordblks + info.fordblks, ==, info.arena);
  EXPECT(info.uordblks, <=, stats.usedBytes);
  EXPECT(info.fordblks, >=, stats.freeBytes);
  EXPECT(info.hblks, ==, stats.largeBlocks);
  EXPECT(info.fsmblks, <=, info.fordblks);
  EXPECT(info.keepcost, <=, info.fordblks);
}

static void checkCycle(void *(*giver)(void *), int isThread) {
  struct mpg_heap_stats before = statsNow();
  size_t usable = take();
  struct mpg_heap_stats held = statsNow();
  size_t inArenas = mallinfo2().uordblks;
  size_t inLarge = maxLarge ? malloc_usable_size(blocks[BLOCKS - 1]) : 0;
  EXPECT(inArenas + inLarge, ==, held.usedBytes);
  EXPECT(held.usedBytes - before.usedBytes, ==, usable);
  EXPECT(held.largeBlocks, ==, before.largeBlocks + maxLarge);
  EXPECT(held.mappedBytes - held.freeBytes, >=, usable);
  checkSums();
  if (isThread) {
    pthread_t thread;
    pthread_create(&thread, NULL, giver, NULL);
    pthread_join(thread, NULL);
  } else {
    giver(NULL);
  }
  struct mpg_heap_stats after = statsNow();
  /* libc keeps its allocations for a thread. */
  EXPECT(after.usedBytes - before.usedBytes, <=, isThread ? 2000 : 0);
  EXPECT(after.largeBlocks, ==, before.largeBlocks);
  EXPECT(after.peakMappedBytes, >=, held.mappedBytes);
  checkSums();
}

/* Programs that were built with an older or a newer header. */
static void checkSizes(void) {
  struct {
    struct mpg_heap_stats stats;
    uint64_t more;
  } known;
  memset(&known, 0x5a, sizeof known);
  known.stats.structBytes = 2 * sizeof(uint64_t);
  EXPECT(mpg_heap_stats(&known.stats), ==, 0);
  EXPECT(known.stats.structBytes, ==, 2 * sizeof(uint64_t));
  EXPECT(known.stats.arenas, <, 100);
  EXPECT(known.stats.threadCaches, ==, 0x5a5a5a5a5a5a5a5a);
  known.stats.structBytes = sizeof known;
  EXPECT(mpg_heap_stats(&known.stats), ==, 0);
  EXPECT(known.stats.structBytes, ==, sizeof known.stats);
  EXPECT(known.more, ==, 0x5a5a5a5a5a5a5a5a);
  known.stats.structBytes = 0;
  EXPECT(mpg_heap_stats(&known.stats), ==, -22);
  EXPECT(mpg_heap_stats(NULL), ==, -22);
}

int main(int count, char **arguments) {
  maxLarge = atoi(arguments[1]);
  checkSums();
  checkCycle(give, 0);
  checkCycle(give, 1);
  checkCycle(allocateAndFree, 1);
  struct mallinfo2 wide = mallinfo2();
  struct mallinfo narrow = mallinfo();
  EXPECT(narrow.arena, ==, wide.arena);
  EXPECT(narrow.uordblks, ==, wide.uordblks);
  EXPECT(narrow.fordblks, ==, wide.fordblks);
  checkSizes();
  return wrongAnswers != 0;
}
