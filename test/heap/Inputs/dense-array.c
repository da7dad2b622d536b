// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An array of 8 MiB that stays the only one is filled. Prints its pages and how
// many large ones the process has, then, and after some small requests.

#include "entry-memory.h"

static long hugePages(void) {
  LineReader reader = {open("/proc/self/smaps_rollup", O_RDONLY), {0}, 0, 0};
  long sum = 0;
  for (char *line; (line = readLine(&reader));)
    sum += fieldKib(line, "AnonHugePages");
  close(reader.file);
  return sum / 2048;
}

int main(void) {
  size_t bytes = 8 << 20;
  long before = hugePages();
  char *array = malloc(bytes);
  memset(array, 1, bytes);
  printf("array: %s\n", pagesUnder(array));
  long filled = hugePages() - before;
  void *blocks[4];
  for (int i = 0; i < 4; ++i)
    blocks[i] = malloc(20000);
  printf("large pages: %ld, then %ld\n", filled, hugePages() - before);
  for (int i = 0; i < 4; ++i)
    free(blocks[i]);
  for (size_t at = 0; at < bytes; ++at)
    if (array[at] != 1)
      return 1;
  free(array);
  return 0;
}
