/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A window of 12 blocks of 1 to 32 MiB, replaced at random: work arrays of a
 * numerical program. Three in four are written throughout, of the others only
 * the first page is.
 */
#include "allocBench.h"

#define WINDOW 12
#define STEPS 250

int main(void) {
  static char *window[WINDOW];
  uint64_t random = randomSeed(0);
  for (int i = 0; i < STEPS; i++) {
    uint64_t number = nextRandom(&random);
    char **slot = &window[number % WINDOW];
    size_t bytes = MIB + (number >> 10) % (31 * MIB);
    free(*slot);
    *slot = getBlock(bytes);
    touchBlock(*slot, number >> 40 & 3 ? bytes : 1);
  }
  for (int i = 0; i < WINDOW; i++)
    free(window[i]);
  return 0;
}
