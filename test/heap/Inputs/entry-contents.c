// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// realloc keeps what is in a block in every direction between small, medium and
// large ones, and calloc gives zeros, also where other blocks have been.
// Prints `right` or the first thing that is wrong.

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t sizes[] = {1,         15,       16,
                               17,        24,       100,
                               128,       129,      1000,
                               8000,      14335,    14336,
                               14337,     16383,    16384,
                               20000,     65536,    200000,
                               1 << 20,   2 << 20,  (2 << 20) + 1,
                               5 << 20,   32 << 20, (128 << 20) - 1,
                               128 << 20, 150 << 20};
enum { sizeCount = sizeof sizes / sizeof *sizes };

static void check(int fine, const char *what, size_t from, size_t to) {
  if (fine)
    return;
  printf("wrong: %s, from %zu to %zu bytes\n", what, from, to);
  exit(1);
}

/// Every byte of short blocks, one in 509 of long ones and the last.
static size_t next(size_t at, size_t bytes) {
  size_t step = bytes <= 200000 ? 1 : 509;
  return at + step < bytes || at + 1 == bytes ? at + step : bytes - 1;
}

static void fill(unsigned char *block, size_t bytes, unsigned seed) {
  for (size_t at = 0; at < bytes; at = next(at, bytes))
    block[at] = (unsigned char)(at * 31 + (at >> 11) + seed);
}

/// \p filled: bytes given to fill(); \p bytes: bytes that remain of them.
static int isFilled(const unsigned char *block, size_t filled, size_t bytes,
                    unsigned seed) {
  for (size_t at = 0; at < bytes; at = next(at, filled))
    if (block[at] != (unsigned char)(at * 31 + (at >> 11) + seed))
      return 0;
  return 1;
}

static int isZero(const char *block, size_t bytes) {
  return !bytes || (!block[0] && !memcmp(block, block + 1, bytes - 1));
}

static void resizeAll(void) {
  for (int i = 0; i < sizeCount; ++i)
    for (int j = 0; j < sizeCount; ++j) {
      size_t from = sizes[i], to = sizes[j], min = from < to ? from : to;
      if ((from > 32 << 20 && to < 100000 && j % 4) ||
          (to > 32 << 20 && from < 100000 && i % 4))
        continue; // the same again and again, and slow
      unsigned char *block = (i + j) % 3 == 0   ? memalign(4096, from)
                             : (i + j) % 3 == 1 ? calloc(from, 1)
                                                : malloc(from);
      fill(block, from, 7);
      // A neighbour, in whose place it cannot grow.
      size_t beside = from < 4 << 20 ? from : 4 << 20;
      unsigned char *other = malloc(beside);
      fill(other, beside, 8);
      block = realloc(block, to);
      check(block && (uintptr_t)block % 16 == 0, "no block", from, to);
      check(malloc_usable_size(block) >= to, "usable size", from, to);
      check(isFilled(block, from, min, 7), "contents", from, to);
      fill(block, to, 9);
      check(isFilled(other, beside, beside, 8), "the neighbour's", from, to);
      block = realloc(block, from);
      check(isFilled(block, to, min, 9), "contents on the way back", to, from);
      free(block);
      free(other);
    }
}

/// Two blocks that grow by turns, a little at a time.
static void growByTurns(size_t max, size_t add, size_t divisor) {
  unsigned char *a = NULL, *b = NULL;
  size_t bytes = 0, more;
  for (; bytes < max; bytes = more) {
    more = bytes + add + bytes / divisor;
    a = realloc(a, more);
    check(isFilled(a, bytes, bytes, 1), "contents of the first", bytes, more);
    fill(a, more, 1);
    b = realloc(b, more);
    check(isFilled(b, bytes, bytes, 2), "contents of the second", bytes, more);
    fill(b, more, 2);
  }
  for (; bytes > 100; bytes = more) {
    more = bytes - bytes / 5;
    a = realloc(a, more);
    check(isFilled(a, bytes, more, 1), "contents of the first", bytes, more);
    fill(a, more, 1);
  }
  free(a);
  free(b);
}

static void zeroAll(void) {
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < sizeCount; ++i) {
      char *blocks[8];
      size_t bytes = sizes[i];
      if (round == 2 && bytes > 32 << 20)
        continue;
      int number = bytes > 1 << 20 ? 2 : 8;
      for (int j = 0; j < number; ++j) {
        blocks[j] = j & 1 ? calloc(bytes, 1) : calloc(1, bytes);
        check(blocks[j] && isZero(blocks[j], bytes), "calloc", 0, bytes);
        // And what is behind it up to what can be used.
        memset(blocks[j], 0xff, malloc_usable_size(blocks[j]));
      }
      for (int j = 0; j < number; ++j)
        free(blocks[(j * 5) % number]);
    }
}

int main(void) {
  resizeAll();
  growByTurns(9000, 1, 1000000);
  growByTurns(70000, 61, 1000000);
  growByTurns(1 << 20, 1000, 50);
  growByTurns(64 << 20, 1, 2);
  zeroAll();
  puts("right");
  return 0;
}
