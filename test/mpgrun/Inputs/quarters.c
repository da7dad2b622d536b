// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four threads, each the first to touch its quarter of a block of 64 MiB.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUARTER (16ul << 20)
static char *block;
static pthread_barrier_t all;

static void *fill(void *number) {
  pthread_barrier_wait(&all);
  memset(block + (size_t)number * QUARTER, 1, QUARTER);
  pthread_barrier_wait(&all);
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  block = malloc(4 * QUARTER);
  pthread_barrier_init(&all, NULL, 4);
  for (size_t i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, fill, (void *)i);
  for (size_t i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  printf("%d\n", block[3 * QUARTER]);
  return 0;
}
