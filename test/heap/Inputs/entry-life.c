// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// malloc before every constructor, in constructors, in destructors and in exit
// handlers: blocks of each of these times are freed in each later one. With
// -DLIBRARY a library of the same kind, whose constructor and destructor do it
// too. Prints `right` from the last of all functions; anything else is wrong.

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { number = 24, bytesStep = 1237 };

/// Blocks of one time of the program's life.
typedef struct {
  unsigned char *block[number];
} Generation;

static void make(Generation *generation) {
  for (size_t i = 0; i < number; ++i) {
    size_t bytes = 10 + i * bytesStep;
    unsigned char *block = i % 3 == 0   ? calloc(1, bytes)
                           : i % 3 == 1 ? malloc(bytes)
                                        : memalign(64, bytes);
    memset(block, (int)i, bytes);
    generation->block[i] = block;
  }
}

/// Ends the program; without stdio, which is at its end then.
static void finish(const char *text) {
  if (write(1, text, strlen(text)) > 0)
    _exit(*text == 'r' ? 0 : 1);
}

/// Frees every third block; \p part selects which.
static void drop(Generation *generation, size_t part) {
  for (size_t i = part; i < number; i += 3) {
    unsigned char *block = generation->block[i];
    size_t bytes = 10 + i * bytesStep;
    for (size_t j = 0; j < bytes; ++j)
      if (block[j] != i)
        finish("wrong: contents of a block of another time\n");
    block = realloc(block, bytes + 500);
    if (block[bytes - 1] != i)
      finish("wrong: contents after realloc\n");
    free(block);
  }
}

#ifdef LIBRARY
static Generation library;

__attribute__((constructor)) static void load(void) {
  make(&library);
  drop(&library, 0);
}

__attribute__((destructor)) static void unload(void) {
  drop(&library, 1);
  drop(&library, 2);
}
#else
static Generation earliest, early, late, running, leaving;

static void beforeEverything(void) {
  make(&earliest);
  drop(&earliest, 0);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const first)(void) = beforeEverything;

__attribute__((constructor(101))) static void before(void) {
  make(&early);
  drop(&earliest, 1);
}

__attribute__((constructor)) static void after(void) {
  make(&late);
  drop(&early, 0);
}

static void leave(void) {
  make(&leaving);
  drop(&running, 0);
  drop(&early, 1);
}

__attribute__((destructor)) static void end(void) {
  drop(&running, 1);
  drop(&late, 1);
  drop(&leaving, 0);
}

__attribute__((destructor(101))) static void last(void) {
  drop(&earliest, 2);
  drop(&early, 2);
  drop(&late, 2);
  drop(&running, 2);
  drop(&leaving, 1);
  drop(&leaving, 2);
  finish("right\n");
}

int main(void) {
  make(&running);
  drop(&late, 0);
  atexit(leave);
  return 0;
}
#endif
