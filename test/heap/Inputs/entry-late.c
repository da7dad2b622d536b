// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads a library with its own malloc while the program runs: that malloc can
// free and resize the C library's blocks, its own blocks are usable, and it may
// be closed again. `dlmopen` loads it into a separate namespace, with a second
// C library. Prints `right` or what is wrong.

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *(*theirMalloc)(size_t);
static void *(*theirRealloc)(void *, size_t);
static void (*theirFree)(void *);

static void check(int fine, const char *what) {
  if (fine)
    return;
  printf("wrong: %s\n", what);
  exit(1);
}

static void *find(void *library, const char *name) {
  void *found = dlsym(library, name);
  check(found != NULL, name);
  return found;
}

static const size_t sizes[] = {0, 24, 1000, 20000, 300000, 5 << 20, 150 << 20};

/// Of the C library's malloc, before and after.
static void makeAll(char **blocks) {
  for (int i = 0; i < 7; ++i) {
    blocks[i] = malloc(sizes[i] + 1);
    memset(blocks[i], i, sizes[i] + 1);
  }
}

static void *useIt(void *unused) {
  for (int round = 0; round < 20; ++round)
    for (int i = 0; i < 7; ++i) {
      char *block = theirMalloc(sizes[i] + 1);
      block[0] = block[sizes[i]] = (char)i;
      block = theirRealloc(block, sizes[i] + 5000);
      check(block[0] == i, "contents of its own");
      theirFree(block);
    }
  return unused;
}

static void *useNone(void *unused) {
  free(malloc(100));
  return unused;
}

int main(int argc, char **argv) {
  char *before[7], *more[7], *resized[7];
  makeAll(before);
  makeAll(more);
  makeAll(resized);
  int apart = argc > 2 && !strcmp(argv[2], "dlmopen");
  void *library = apart ? dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW)
                        : dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  check(library != NULL, "it cannot be loaded");
  *(void **)&theirMalloc = find(library, "malloc");
  *(void **)&theirRealloc = find(library, "realloc");
  *(void **)&theirFree = find(library, "free");
  check(apart || (void *)theirMalloc != (void *)malloc, "it has no malloc");
  useIt(NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, useIt, NULL);
  pthread_join(thread, NULL);
  for (int i = 0; i < 7; ++i) {
    free(before[i]);
    if (apart) // another C library: not its blocks
      continue;
    theirFree(more[i]);
    resized[i] = theirRealloc(resized[i], sizes[i] + 100000);
    check(resized[i][sizes[i]] == i, "contents of the C library's block");
    theirFree(resized[i]);
  }
  dlclose(library);
  makeAll(before);
  for (int i = 0; i < 7; ++i)
    free(before[i]);
  pthread_create(&thread, NULL, useNone, NULL);
  pthread_join(thread, NULL);
  puts("right");
  return 0;
}
