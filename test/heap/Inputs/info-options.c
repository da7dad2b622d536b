/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Options of mallopt have the effect of the variable of the same name, and
 * unknown ones are rejected. The argument selects the option.
 */
#define _GNU_SOURCE
#include "info-expect.h"

#include <limits.h>
#include <malloc.h>

static long largeBlocks(size_t bytes) {
  long before = statsNow().largeBlocks;
  void *volatile block = malloc(bytes);
  long more = statsNow().largeBlocks - before;
  free(block);
  return more;
}

/* Bytes that are mapped after blocks of 8 MiB are freed. */
static long keptBytes(int count) {
  void *blocks[20];
  for (int i = 0; i < count; i++)
    blocks[i] = malloc(8 * MIB);
  for (int i = 0; i < count; i++)
    free(blocks[i]);
  return (long)statsNow().mappedBytes;
}

static void checkThreshold(void) {
  EXPECT(largeBlocks(2 * MIB), ==, 0);
  EXPECT(mallopt(M_MMAP_THRESHOLD, MIB), ==, 1);
  EXPECT(largeBlocks(2 * MIB), ==, 1);
  EXPECT(largeBlocks(MIB / 2), ==, 0);
  EXPECT(mallopt(M_MMAP_THRESHOLD, -1), ==, 0);
  EXPECT(largeBlocks(2 * MIB), ==, 1);
  EXPECT(mallopt(M_MMAP_MAX, 0), ==, 1);
  EXPECT(largeBlocks(2 * MIB), ==, 0);
  EXPECT(mallopt(M_MMAP_MAX, 10), ==, 1);
  EXPECT(largeBlocks(2 * MIB), ==, 1);
}

static void checkTrim(void) {
  long kept = keptBytes(4);
  EXPECT(kept, >=, 24 * MIB);
  EXPECT(mallopt(M_TRIM_THRESHOLD, 0), ==, 1);
  kept = keptBytes(8);
  EXPECT(kept, <=, 4 * MIB);
  EXPECT(mallopt(M_TRIM_THRESHOLD, -1), ==, 1);
  kept = keptBytes(18);
  EXPECT(kept, >=, 140 * MIB);
  EXPECT(mallopt(M_TRIM_THRESHOLD, INT_MAX), ==, 1);
  EXPECT(mallopt(M_MMAP_THRESHOLD, MIB), ==, 1); /* -1 took nothing away */
}

static void checkPad(void) {
  long before = statsNow().mappedBytes;
  void *volatile first = malloc(3 * MIB);
  EXPECT(statsNow().mappedBytes - before, <, 8 * MIB);
  EXPECT(mallopt(M_TOP_PAD, 32 * MIB), ==, 1);
  EXPECT(mallopt(M_TOP_PAD, -1), ==, 0);
  void *volatile second = malloc(9 * MIB);
  EXPECT(statsNow().mappedBytes - before, >=, 32 * MIB);
  free(first);
  free(second);
}

static void checkPerturb(void) {
  static const size_t sizes[] = {40, 40, 100000, 100000};
  EXPECT(mallopt(M_PERTURB, 0x15a), ==, 1);
  for (int i = 0; i < 4; i++) {
    unsigned char *volatile block = malloc(sizes[i]);
    EXPECT(block[0], ==, 0xa5);
    EXPECT(block[sizes[i] - 1], ==, 0xa5);
    free(block);
    block = calloc(1, sizes[i]);
    EXPECT(block[0] | block[sizes[i] - 1], ==, 0);
    memset(block, 1, sizes[i]);
    free(block);
    if (sizes[i] > 20000) /* the start of a small one has other contents */
      EXPECT(block[sizes[i] / 2], ==, 0x5a);
  }
  EXPECT(mallopt(M_PERTURB, 0), ==, 1);
  unsigned char *volatile block = malloc(100000);
  memset(block, 1, 100000);
  free(block);
  EXPECT(block[50000], ==, 1);
}

static void checkOthers(void) {
  EXPECT(mallopt(M_ARENA_MAX, 4), ==, 1);
  EXPECT(mallopt(M_ARENA_TEST, 2), ==, 1);
  EXPECT(mallopt(M_MXFAST, 64), ==, 1);
  EXPECT(mallopt(M_MXFAST, 161), ==, 0);
  EXPECT(mallopt(M_MXFAST, -1), ==, 0);
  EXPECT(mallopt(12345, 1), ==, 1); /* as glibc */
}

static void checkKept(void) { /* XOS_MMM_L_ARENA_FREE=2 decides */
  EXPECT(mallopt(M_MMAP_THRESHOLD, MIB), ==, 0);
  EXPECT(mallopt(M_TRIM_THRESHOLD, 0), ==, 0);
  EXPECT(largeBlocks(2 * MIB), ==, 0);
  EXPECT(keptBytes(18), >=, 140 * MIB);
}

/* Frees a block twice, after what is done about it was set to \p action. */
static void freeTwice(int action) {
  void *volatile block = malloc(100);
  EXPECT(mallopt(M_CHECK_ACTION, action), ==, 1);
  free(block);
  free(block);
}

int main(int count, char **arguments) {
  const char *what = arguments[1];
  if (strcmp(what, "threshold") == 0)
    checkThreshold();
  else if (strcmp(what, "trim") == 0)
    checkTrim();
  else if (strcmp(what, "pad") == 0)
    checkPad();
  else if (strcmp(what, "perturb") == 0)
    checkPerturb();
  else if (strcmp(what, "others") == 0)
    checkOthers();
  else if (strcmp(what, "kept") == 0)
    checkKept();
  else
    freeTwice(atoi(what));
  return wrongAnswers != 0;
}
