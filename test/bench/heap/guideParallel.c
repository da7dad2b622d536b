/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The work of the tuning guide, 7.4: two threads call malloc(64 KiB) 20,480
 * times, some times over. "hold" writes a byte in each block and frees them
 * when all are there, outside of the time; "ends" writes the last byte, too;
 * "pair" frees each block at once.
 */
#include "allocBench.h"

#define THREADS 2
#define BLOCKS 20480
#define BLOCK_BYTES (64 * KIB)

static pthread_barrier_t barrier;
static int isHold, isEnds, rounds;
static struct Moment total;

static void allocateAll(char **blocks) {
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = getBlock(BLOCK_BYTES);
    *(volatile char *)blocks[i] = 1;
    if (isEnds)
      markBlock(blocks[i], BLOCK_BYTES);
    if (!isHold)
      free(blocks[i]);
  }
}

static void *work(void *argument) {
  char **blocks = getBlock(BLOCKS * sizeof *blocks);
  for (int round = 0; round < rounds; round++) {
    pthread_barrier_wait(&barrier);
    struct Moment start = momentNow();
    allocateAll(blocks);
    pthread_barrier_wait(&barrier);
    if (!argument) {
      struct Moment end = momentNow();
      total.wallMs += end.wallMs - start.wallMs;
      total.cpuMs += end.cpuMs - start.cpuMs;
      if (!round)
        printPool();
    }
    pthread_barrier_wait(&barrier);
    for (int i = 0; isHold && i < BLOCKS; i++)
      free(blocks[i]);
  }
  free(blocks);
  return NULL;
}

int main(int count, char **words) {
  isEnds = count > 1 && !strcmp(words[1], "ends");
  isHold = isEnds || (count > 1 && !strcmp(words[1], "hold"));
  rounds = isHold ? 4 : 50;
  pthread_barrier_init(&barrier, NULL, THREADS);
  runThreads(THREADS, work);
  struct Moment zero = {0, 0};
  printSpan("malloc", zero, total);
  return 0;
}
