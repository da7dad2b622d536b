/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One thread allocates blocks of 16 to 512 bytes and hands them on in batches;
 * the other one reads and frees them. No block is freed where it came from.
 */
#include "allocBench.h"

#define BATCH 512
#define BATCHES 8000
#define QUEUE 16

struct Batch {
  char *blocks[BATCH];
};

static struct Batch *queue[QUEUE];
static int queued, taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void put(struct Batch *batch) {
  pthread_mutex_lock(&lock);
  while (queued - taken == QUEUE)
    pthread_cond_wait(&changed, &lock);
  queue[queued++ % QUEUE] = batch;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
}

static struct Batch *take(void) {
  pthread_mutex_lock(&lock);
  while (queued == taken)
    pthread_cond_wait(&changed, &lock);
  struct Batch *batch = queue[taken++ % QUEUE];
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return batch;
}

static void produce(void) {
  uint64_t random = randomSeed(0);
  for (int i = 0; i < BATCHES; i++) {
    struct Batch *batch = getBlock(sizeof *batch);
    for (int k = 0; k < BATCH; k++) {
      size_t bytes = 16 + nextRandom(&random) % 497;
      batch->blocks[k] = getBlock(bytes);
      markBlock(batch->blocks[k], bytes);
    }
    put(batch);
  }
}

static void consume(void) {
  for (int i = 0; i < BATCHES; i++) {
    struct Batch *batch = take();
    for (int k = 0; k < BATCH; k++) {
      if (*batch->blocks[k] != 1 && *batch->blocks[k] != 2)
        abort();
      free(batch->blocks[k]);
    }
    free(batch);
  }
}

static void *work(void *argument) {
  if (argument)
    consume();
  else
    produce();
  return NULL;
}

int main(void) {
  runThreads(2, work);
  return 0;
}
