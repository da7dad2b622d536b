// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds 2,000 blocks of argv[1] bytes and has written argv[2] bytes at the start
// of each. Prints the memory that came for them, in MiB and large pages.

#include "entry-memory.h"

enum { blocks = 2000 };

static long hugeKib(void) {
  LineReader reader = {open("/proc/self/smaps_rollup", O_RDONLY), {0}, 0, 0};
  long sum = 0;
  for (char *line; (line = readLine(&reader));)
    sum += fieldKib(line, "AnonHugePages");
  close(reader.file);
  return sum;
}

int main(int argc, char **argv) {
  size_t bytes = strtoul(argv[1], NULL, 0), written = strtoul(argv[2], NULL, 0);
  static char *block[blocks];
  long before = presentKib(), hugeBefore = hugeKib();
  for (int i = 0; i < blocks; ++i) {
    block[i] = malloc(bytes);
    memset(block[i], i + 1, written);
  }
  printf("present %ld MiB, large pages %ld\n", (presentKib() - before) / 1024,
         (hugeKib() - hugeBefore) / 2048);
  for (int i = 0; i < blocks; ++i)
    for (size_t at = 0; at < written; ++at)
      if (block[i][at] != (char)(i + 1))
        return 1;
  for (int i = 0; i < blocks; ++i)
    free(block[i]);
  return 0;
}
