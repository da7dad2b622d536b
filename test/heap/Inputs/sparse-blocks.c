// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds 2,000 blocks of argv[1] bytes and has written argv[2] bytes at the start
// of each, or at argv[3] places from its first byte to its last. Prints the
// memory that came for them, in MiB and large pages. With argv[4] it then writes
// past the end of one, frees the end of one on whose last page the next one
// begins, or frees that next one twice. Frees two of three and takes as many
// again, ten times; frees all, and prints what is left.

#include "entry-memory.h"
#include <malloc.h>

enum { blocks = 2000, rounds = 10 };
static unsigned char *block[blocks];
static size_t bytes, written, places = 1;

static long hugeKib(void) {
  LineReader reader = {open("/proc/self/smaps_rollup", O_RDONLY), {0}, 0, 0};
  long sum = 0;
  for (char *line; (line = readLine(&reader));)
    sum += fieldKib(line, "AnonHugePages");
  close(reader.file);
  return sum;
}

static unsigned char *placeIn(int i, size_t place) {
  return block[i] + (places > 1 ? place * (bytes - written) / (places - 1) : 0);
}

static void fill(int i) {
  for (size_t place = 0; place < places; ++place)
    memset(placeIn(i, place), i % 255 + 1, written);
}

static int isRight(int i) {
  for (size_t place = 0; place < places; ++place)
    for (size_t at = 0; at < written; ++at)
      if (placeIn(i, place)[at] != i % 255 + 1)
        return 0;
  return 1;
}

/// Of a long block the first byte, which was written, and few others: a page that
/// is read is present.
static int isZero(int i) {
  size_t step = bytes < 1 << 20 ? 1 : bytes / 4;
  for (size_t at = 0; at < bytes; at += step)
    if (block[i][at])
      return 0;
  return 1;
}

static void printPresent(const char *when, long before, long hugeBefore) {
  printf("%s %ld MiB, large pages %ld\n", when, (presentKib() - before) / 1024,
         (hugeKib() - hugeBefore) / 2048);
}

static int sharePage(int i, int next) {
  return ((size_t)block[i] + bytes - 1) / 4096 == (size_t)block[next] / 4096;
}

static void doWrong(const char *what) {
  int i = blocks / 2;
  while (i < blocks - 3 && !(sharePage(i, i + 1) && sharePage(i + 1, i + 2)))
    ++i;
  printf("block %p\n", (void *)block[i]);
  fflush(stdout);
  if (!strcmp(what, "past")) {
    ++block[i][malloc_usable_size(block[i])];
    free(block[i]);
  }
  if (!strcmp(what, "end"))
    free(block[i] + bytes - 16);
  free(block[i + 1]);
  free(block[i + 2]);
  free(block[i + 1]);
}

/// Two of three.
static int isChosen(unsigned i, unsigned round) {
  return (i * 2654435761u ^ round * 40503u) / 1024 % 3 != 0;
}

/// By calloc now and then. False: its bytes are not zero.
static int takeAgain(int i) {
  int clears = i % 64 == 1;
  block[i] = clears ? calloc(bytes, 1) : malloc(bytes);
  if (clears && !isZero(i))
    return 0;
  fill(i);
  return 1;
}

int main(int argc, char **argv) {
  bytes = strtoul(argv[1], NULL, 0);
  written = strtoul(argv[2], NULL, 0);
  if (argc > 3)
    places = strtoul(argv[3], NULL, 0);
  long before = presentKib(), hugeBefore = hugeKib();
  for (int i = 0; i < blocks; ++i) {
    block[i] = malloc(bytes);
    fill(i);
  }
  printPresent("present", before, hugeBefore);
  if (argc > 4)
    doWrong(argv[4]);
  for (unsigned round = 0; round < rounds; ++round) {
    for (int i = 0; i < blocks; ++i)
      if (isChosen(i, round))
        free(block[i]);
    for (int i = 0; i < blocks; ++i)
      if (isChosen(i, round) && !takeAgain(i))
        return 1;
  }
  printPresent("again", before, hugeBefore);
  for (int i = 0; i < blocks; ++i) {
    if (!isRight(i))
      return 1;
    free(block[i]);
  }
  printPresent("freed", before, hugeBefore);
  return 0;
}
