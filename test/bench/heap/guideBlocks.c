/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The work of the tuning guide, 7.3: blocks of 8 MiB are allocated and then all
 * freed, twice. With an argument, one byte in each page is written in between.
 */
#include "allocBench.h"

#define BLOCKS 256
#define BLOCK_BYTES (8 * MIB)

static char *blocks[BLOCKS];

static void cycle(int round, int isTouched) {
  static const char *const names[2][3] = {{"malloc1", "touch1", "free1"},
                                          {"malloc2", "touch2", "free2"}};
  struct Moment start = momentNow();
  for (int i = 0; i < BLOCKS; i++)
    blocks[i] = getBlock(BLOCK_BYTES);
  struct Moment allocated = momentNow();
  for (int i = 0; isTouched && i < BLOCKS; i++)
    touchBlock(blocks[i], BLOCK_BYTES);
  struct Moment touched = momentNow();
  if (!round)
    printPool();
  struct Moment full = momentNow();
  for (int i = 0; i < BLOCKS; i++)
    free(blocks[i]);
  struct Moment freed = momentNow();
  printSpan(names[round][0], start, allocated);
  printSpan(names[round][1], allocated, touched);
  printSpan(names[round][2], full, freed);
}

int main(int count, char **words) {
  (void)words;
  for (int round = 0; round < 2; round++)
    cycle(round, count > 1);
  return 0;
}
