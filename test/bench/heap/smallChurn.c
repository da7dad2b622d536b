/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Each thread has a window of live objects of 16 to 1000 bytes and replaces one
 * at random, over and over. The argument is the number of threads.
 */
#include "allocBench.h"

#define WINDOW 8192
#define STEPS 15000000

static void *churn(void *argument) {
  uint64_t random = randomSeed((uintptr_t)argument);
  char **window = checkBlock(calloc(WINDOW, sizeof *window), WINDOW);
  for (int i = 0; i < STEPS; i++) {
    uint64_t number = nextRandom(&random);
    char **slot = &window[number % WINDOW];
    size_t bytes = 16 + (number >> 20) % 985;
    free(*slot);
    *slot = getBlock(bytes);
    markBlock(*slot, bytes);
  }
  for (int i = 0; i < WINDOW; i++)
    free(window[i]);
  free(window);
  return NULL;
}

int main(int count, char **words) {
  runThreads(count > 1 ? (unsigned)atoi(words[1]) : 1, churn);
  return 0;
}
