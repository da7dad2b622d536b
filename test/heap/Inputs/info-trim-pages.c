/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * malloc_trim with few of many blocks in use. Arguments: bytes of a block,
 * number of blocks for each one kept, and a file: the C library's malloc writes
 * its resident size after malloc_trim to it, and libmpg may have twice that.
 */
#include "info-expect.h"

#include <malloc.h>
#include <sys/mman.h>

static size_t residentKib(void) {
  size_t all = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  int got = fscanf(file, "%zu %zu", &all, &resident);
  fclose(file);
  EXPECT(got, ==, 2);
  return resident * (size_t)sysconf(_SC_PAGESIZE) / 1024;
}

static char **blocks;
static size_t number, bytes;

static void fill(size_t i) {
  blocks[i] = malloc(bytes);
  memset(blocks[i], (int)(i % 251), bytes);
}

static void expectContents(size_t i) {
  size_t wrong = 0;
  for (size_t at = 0; at < bytes; at++)
    wrong += (unsigned char)blocks[i][at] != i % 251;
  EXPECT(wrong, ==, 0);
}

static void compare(const char *path, size_t kib) {
  size_t plain = 0;
  if (!mpg_heap_stats) {
    FILE *file = fopen(path, "w");
    fprintf(file, "%zu\n", kib);
    fclose(file);
    return;
  }
  FILE *file = fopen(path, "r");
  int got = fscanf(file, "%zu", &plain);
  fclose(file);
  EXPECT(got, ==, 1);
  EXPECT(kib, <=, 2 * plain + 8 * 1024);
  EXPECT(mpg_heap_check(), ==, 0);
}

int main(int count, char **arguments) {
  bytes = strtoul(arguments[1], NULL, 10);
  size_t step = strtoul(arguments[2], NULL, 10);
  number = 200 * MIB / bytes;
  blocks = mmap(NULL, number * sizeof *blocks, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  size_t atFirst = residentKib();
  for (size_t i = 0; i < number; i++)
    fill(i);
  EXPECT(residentKib() - atFirst, >=, 190 * 1024);
  for (size_t i = 0; i < number; i++)
    if (i % step)
      free(blocks[i]);
  int any = malloc_trim(0);
  EXPECT(any, ==, 1);
  compare(arguments[3], residentKib() - atFirst);
  /* Kept blocks are intact, and freed memory can be used again. */
  for (size_t i = 0; i < number; i++)
    if (i % step)
      fill(i);
  for (size_t i = 0; i < number; i++) {
    expectContents(i);
    free(blocks[i]);
  }
  if (mpg_heap_check)
    EXPECT(mpg_heap_check(), ==, 0);
  return wrongAnswers != 0;
}
