/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One thread allocates blocks of 16 to 512 bytes and hands them on in batches;
 * the other one reads and frees them. No block is freed where it came from.
 * `many`: two threads allocate blocks of 64 bytes, two free them unread, and up
 * to 400,000 blocks are on their way.
 */
#include "allocBench.h"

#define MOST_QUEUED 100

static int pairs = 1, batches = 8000, batchBlocks = 512, mostQueued = 16;
static char **queue[MOST_QUEUED];
static int queued, taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;

static void put(char **batch) {
  pthread_mutex_lock(&lock);
  while (queued - taken == mostQueued)
    pthread_cond_wait(&emptied, &lock);
  queue[queued++ % mostQueued] = batch;
  pthread_cond_signal(&filled);
  pthread_mutex_unlock(&lock);
}

static char **take(void) {
  pthread_mutex_lock(&lock);
  while (queued == taken)
    pthread_cond_wait(&filled, &lock);
  char **batch = queue[taken++ % mostQueued];
  pthread_cond_signal(&emptied);
  pthread_mutex_unlock(&lock);
  return batch;
}

static void produce(uintptr_t number) {
  uint64_t random = randomSeed(number);
  for (int i = 0; i < batches; i++) {
    char **batch = getBlock((size_t)batchBlocks * sizeof *batch);
    for (int k = 0; k < batchBlocks; k++) {
      size_t bytes = pairs > 1 ? 64 : 16 + nextRandom(&random) % 497;
      batch[k] = getBlock(bytes);
      markBlock(batch[k], bytes);
    }
    put(batch);
  }
}

static void consume(void) {
  for (int i = 0; i < batches; i++) {
    char **batch = take();
    for (int k = 0; k < batchBlocks; k++) {
      if (pairs == 1 && *batch[k] != 1 && *batch[k] != 2)
        abort();
      free(batch[k]);
    }
    free(batch);
  }
}

static void *work(void *argument) {
  uintptr_t number = (uintptr_t)argument;
  if (number < (uintptr_t)pairs)
    produce(number);
  else
    consume();
  return NULL;
}

int main(int count, char **words) {
  if (count > 1 && strcmp(words[1], "many") == 0) {
    pairs = 2;
    batches = 1500;
    batchBlocks = 4096;
    mostQueued = MOST_QUEUED;
  }
  runThreads(2 * (unsigned)pairs, work);
  return 0;
}
