/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * malloc_trim(0) moves blocks of a mostly free heap from pages of the pool
 * while other threads write to them: no write may be lost. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 4, kept = 100, rounds = 6, bytes = 20000, all = 4000 };
static unsigned long *counters[threads][kept]; /* a word in each kept block */
static volatile int isOver;

static void *count(void *number) {
  unsigned long turn = 0, bad = 0;
  for (; !isOver; ++turn)
    for (int i = 0; i < kept; ++i)
      bad += counters[(long)number][i][turn % 64]++ != turn / 64;
  return (void *)bad;
}

/* 20 in each round remain. */
static void leaveFew(void) {
  static char *blocks[all];
  for (int i = 0; i < all; ++i)
    memset(blocks[i] = malloc(bytes), 1, bytes);
  for (int i = 0; i < all; ++i)
    if (i % 200)
      free(blocks[i]);
}

int main(void) {
  long wrong = 0;
  pthread_t ids[threads];
  void *bad;
  for (int i = 0; i < kept; ++i)
    for (int t = 0; t < threads; ++t)
      counters[t][i] = calloc(1, bytes + 4096 * (i % 5));
  for (long t = 0; t < threads; ++t)
    pthread_create(&ids[t], NULL, count, (void *)t);
  for (int i = 0; i < rounds; ++i) {
    leaveFew();
    malloc_trim(0);
  }
  isOver = 1;
  for (int t = 0; t < threads; ++t) {
    pthread_join(ids[t], &bad);
    wrong += (long)bad;
  }
  printf("lost: %ld\n", wrong);
  return wrong != 0;
}
