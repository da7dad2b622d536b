/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Blocks of 16 KiB to 8 MiB that come and go. one16K to one8M: a block is
 * allocated, its first byte written, and freed, 200,000 times, after one that
 * does not count: it may take a large page from the pool. many: of 64 blocks of
 * 14 to 256 KiB one is replaced at random, 400,000 times, after as many that do
 * not count.
 */
#include "allocBench.h"

#define SLOTS 64
#define STEPS 400000

static void repeatOne(const char *name, size_t bytes) {
  struct Moment start;
  for (int i = -1; i < 200000; i++) {
    if (i == 0)
      start = momentNow();
    char *block = getBlock(bytes);
    *(volatile char *)block = 1;
    free(block);
  }
  printSpan(name, start, momentNow());
}

static void replaceMany(void) {
  static char *slots[SLOTS];
  uint64_t random = randomSeed(0);
  for (int i = 0; i < STEPS; i++) {
    uint64_t number = nextRandom(&random);
    char **slot = &slots[number % SLOTS];
    free(*slot);
    *slot = getBlock(14 * KIB + (number >> 10) % (242 * KIB));
    **(volatile char **)slot = 1;
  }
  for (int i = 0; i < SLOTS; i++) {
    free(slots[i]);
    slots[i] = NULL;
  }
}

int main(void) {
  repeatOne("one16K", 16 * KIB);
  repeatOne("one64K", 64 * KIB);
  repeatOne("one256K", 256 * KIB);
  repeatOne("one1M", MIB);
  repeatOne("one8M", 8 * MIB);
  replaceMany();
  struct Moment start = momentNow();
  replaceMany();
  printSpan("many", start, momentNow());
  return 0;
}
