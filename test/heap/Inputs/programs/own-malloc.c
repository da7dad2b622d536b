/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program with its own malloc, as some have. All of its blocks, including the
 * C library's requests, have to come from it and return to it: a block of
 * another heap ends it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEAP_BYTES = 64 << 20, HEAD = 16 };
static char *heap; /* not in .bss, which libmpg moves to large pages */
static size_t used;
static long live;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *malloc(size_t bytes) {
  pthread_mutex_lock(&lock);
  if (!heap)
    heap = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *block = heap + used + HEAD;
  memcpy(block - HEAD, &bytes, sizeof bytes);
  used += HEAD + (bytes + 15) / 16 * 16;
  live++;
  pthread_mutex_unlock(&lock);
  return used <= HEAP_BYTES ? block : NULL;
}

void free(void *block) {
  if (!block)
    return;
  if ((char *)block < heap || (char *)block >= heap + HEAP_BYTES)
    abort();
  pthread_mutex_lock(&lock);
  live--;
  pthread_mutex_unlock(&lock);
}

void *calloc(size_t number, size_t bytes) { return malloc(number * bytes); }

void *realloc(void *block, size_t bytes) {
  size_t before = 0;
  if (block)
    memcpy(&before, (char *)block - HEAD, sizeof before);
  void *moved = malloc(bytes);
  if (block)
    memcpy(moved, block, before < bytes ? before : bytes);
  free(block);
  return moved;
}

static void *inThread(void *argument) {
  char *text = NULL, *line = NULL;
  size_t bytes = 0;
  FILE *memory = open_memstream(&text, &bytes);
  for (int i = 0; i < 10000; i++)
    fprintf(memory, "line %d\n", i);
  fclose(memory);
  FILE *file = fmemopen(text, bytes, "r");
  long sum = 0;
  size_t room = 0;
  while (getline(&line, &room, file) > 0)
    sum += strlen(line);
  fclose(file);
  free(line);
  free(text);
  char *words = strdup("two words"), *more;
  if (asprintf(&more, "%s %ld", words, sum) < 0)
    abort();
  free(words);
  words = reallocarray(more, 100, 3);
  *(long *)argument = sum + strlen(words);
  free(words);
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  long sums[4], before = live;
  setenv("A_NEW_VARIABLE", "value", 1);
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, inThread, &sums[i]);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  printf("%ld %ld %s\n", sums[0], sums[3],
         live - before < 100 ? "all freed" : "blocks were lost");
  return 0;
}
