/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A window of live blocks from 16 B to 1 MiB, many small and few large ones
 * (the share above x falls with the root of x), one in eight from calloc().
 * Writes each page. Resembles a program with buffers of all kinds.
 */
#include "allocBench.h"

#define WINDOW 4000
#define STEPS 1500000

/* 16 / u^2 for u in (0, 1): half of the blocks are below 64 B, 3 % above 16
 * KiB, 0.4 % at 1 MiB. */
static size_t powerLawBytes(uint64_t number) {
  double u = ((double)(number & 0xfffff) + 1) / 0x100000;
  double bytes = 16 / (u * u);
  return bytes > (double)MIB ? MIB : (size_t)bytes;
}

int main(void) {
  static char *window[WINDOW];
  uint64_t random = randomSeed(0);
  for (int i = 0; i < STEPS; i++) {
    uint64_t number = nextRandom(&random);
    char **slot = &window[(number >> 24) % WINDOW];
    size_t bytes = powerLawBytes(number);
    free(*slot);
    *slot = i % 8 ? getBlock(bytes) : checkBlock(calloc(1, bytes), bytes);
    touchBlock(*slot, bytes);
  }
  for (int i = 0; i < WINDOW; i++)
    free(window[i]);
  return 0;
}
