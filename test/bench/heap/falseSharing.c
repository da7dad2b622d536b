/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Do two threads get objects in one cache line? "active": each thread allocates
 * an object of 8 bytes, writes it many times and frees it, over and over.
 * "passive": first each of them frees one of two neighbours that the main
 * thread has given it. An allocator that lets the threads share lines is many
 * times slower.
 */
#include "allocBench.h"

#define THREADS 2
#define OBJECTS 150000
#define WRITES 4000
#define OBJECT_BYTES 8

static void *given[THREADS];
static pthread_barrier_t barrier;

static void *work(void *argument) {
  pthread_barrier_wait(&barrier);
  free(given[(uintptr_t)argument]);
  for (int i = 0; i < OBJECTS; i++) {
    volatile char *object = getBlock(OBJECT_BYTES);
    for (int k = 0; k < WRITES; k++)
      object[k % OBJECT_BYTES]++;
    free((void *)object);
  }
  return NULL;
}

int main(int count, char **words) {
  if (count > 1 && !strcmp(words[1], "passive"))
    for (int i = 0; i < THREADS; i++)
      given[i] = getBlock(OBJECT_BYTES);
  pthread_barrier_init(&barrier, NULL, THREADS);
  runThreads(THREADS, work);
  return 0;
}
