/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Two threads allocate 20,000 blocks of 16 to 400 bytes each, exchange them,
 * and free the other's in a random order while both go on: all frees are
 * remote.
 */
#include "allocBench.h"

#define THREADS 2
#define BLOCKS 20000
#define ROUNDS 300

static char *blocks[THREADS][BLOCKS];
static pthread_barrier_t barrier;

static void shuffle(char **list, uint64_t *random) {
  for (size_t i = BLOCKS - 1; i > 0; i--) {
    size_t other = nextRandom(random) % (i + 1);
    char *swapped = list[i];
    list[i] = list[other];
    list[other] = swapped;
  }
}

static void *work(void *argument) {
  uintptr_t self = (uintptr_t)argument;
  uint64_t random = randomSeed(self);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < BLOCKS; i++) {
      size_t bytes = 16 + nextRandom(&random) % 385;
      blocks[self][i] = getBlock(bytes);
      markBlock(blocks[self][i], bytes);
    }
    pthread_barrier_wait(&barrier);
    char **others = blocks[(self + 1) % THREADS];
    shuffle(others, &random);
    for (int i = 0; i < BLOCKS; i++)
      free(others[i]);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(void) {
  pthread_barrier_init(&barrier, NULL, THREADS);
  runThreads(THREADS, work);
  return 0;
}
