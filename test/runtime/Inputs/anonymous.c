// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// anonymous MIB: allocates that much memory in blocks of 1,000 bytes, keeps it,
// and prints the process's anonymous memory, and the part of it on large pages.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  size_t blocks = (argc > 1 ? strtoul(argv[1], NULL, 10) : 0) * 1024;
  for (size_t i = 0; i < blocks; ++i)
    memset(malloc(1000), 1, 1000);
  unsigned long all = 0, large = 0;
  char line[256];
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  while (file && fgets(line, sizeof line, file)) {
    sscanf(line, "Anonymous: %lu", &all);
    sscanf(line, "AnonHugePages: %lu", &large);
  }
  printf("%lu KiB, %lu large\n", all, large);
  return 0;
}
