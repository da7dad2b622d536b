/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Damages its heap as the argument asks, prints the result of mpg_heap_check(),
 * and goes on. Does not free its last blocks, because that would find the
 * damage too.
 */
#define _GNU_SOURCE
#include "info-expect.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 60 };

/* Writes one byte past a block of each kind. */
static void writePast(void) {
  static const size_t sizes[] = {100, 14000, 100000, 200 << 20};
  for (int i = 0; i < 4; i++) {
    char *volatile block = malloc(sizes[i]);
    fprintf(stderr, "block %p\n", block);
    block[sizes[i]] = 0;
  }
}

/* Writes to a block that is free: at hand for the thread, or in its slab. */
static void writeAfterFree(int which) {
  static char *blocks[3000];
  for (int i = 0; i < 3000; i++)
    blocks[i] = malloc(100);
  for (int i = 0; i < 3000; i++)
    if (i % 100 != 50) /* so that no slab is given away */
      free(blocks[i]);
  fprintf(stderr, "block %p\n", blocks[which]);
  memset(blocks[which], 'x', 100);
}

static void *endWithFreeBlock(void *unused) {
  void *volatile block = malloc(100), *volatile other = malloc(100);
  memset(other, 'y', 100); /* its slab stays */
  free(block);
  return block;
}

static int isOver;

/* Does nothing wrong. */
static void *work(void *seed) {
  enum { HELD = 200 };
  unsigned random = (unsigned)(size_t)seed;
  void *held[HELD] = {0};
  while (!__atomic_load_n(&isOver, __ATOMIC_RELAXED)) {
    random = random * 1103515245 + 12345;
    int place = random >> 16 & 127;
    size_t bytes = random % 7 ? random >> 8 & 1023 : random >> 8 & 0x3ffff;
    held[place] = realloc(held[place], bytes);
    if (held[place])
      memset(held[place], 1, bytes);
    if (random % 1000 == 0) {
      void *large = malloc(130 * MIB);
      free(large);
    }
  }
  for (int i = 0; i < HELD; i++)
    free(held[i]);
  return NULL;
}

static int inspectConcurrently(void) {
  pthread_t threads[THREADS];
  int found = 0;
  for (size_t i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, work, (void *)(i + 1));
  for (int i = 0; i < ROUNDS; i++)
    found += mpg_heap_check();
  __atomic_store_n(&isOver, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  return found + mpg_heap_check();
}

int main(int count, char **arguments) {
  const char *what = arguments[1];
  pthread_t thread;
  void *block;
  int found = -1;
  setvbuf(stdout, NULL, _IONBF, 0);
  if (strcmp(what, "past") == 0)
    writePast();
  else if (strcmp(what, "slab") == 0)
    writeAfterFree(0); /* the one that waits longest */
  else if (strcmp(what, "hand") == 0)
    writeAfterFree(2999);
  else if (strcmp(what, "ended") == 0)
    pthread_create(&thread, NULL, endWithFreeBlock, NULL) ||
        pthread_join(thread, &block) || memset(block, 'x', 100);
  else if (strcmp(what, "others") == 0)
    found = inspectConcurrently();
  if (found < 0)
    found = mpg_heap_check();
  printf("found %d\n", found);
  _exit(0);
}
