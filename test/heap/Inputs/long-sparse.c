// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds 400 blocks of 4 MB with one byte written, makes the last quarter longer
// by realloc(), and frees all. Then sets itself a limit on addresses of argv[2]
// MiB, if it is given, maps argv[1] MiB, and says what is left of the heap. With
// argv[3] it fills the second half of each block before it frees them, and says
// what stays.

#include "entry-memory.h"
#include <dlfcn.h>
#include <malloc.h>
#include <mpg/mpg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { blocks = 400, mib = 1 << 20 };
static char *block[blocks];

int main(int argc, char **argv) {
  int (*stats)(struct mpg_heap_stats *) = dlsym(RTLD_DEFAULT, "mpg_heap_stats");
  for (int i = 0; i < blocks; ++i) {
    block[i] = malloc(4000000);
    block[i][1] = 1;
  }
  for (int i = blocks - 1; i >= blocks * 3 / 4; --i)
    if (!(block[i] = realloc(block[i], 6000000)) || block[i][1] != 1)
      return 1;
  for (int i = 0; argc > 3 && i < blocks; ++i)
    memset(block[i] + 2200000, 1, 1700000);
  for (int i = 0; i < blocks; ++i)
    free(block[i]);
  struct mpg_heap_stats freed = {sizeof freed};
  if (stats(&freed) ||
      freed.usedBytes + freed.freeBytes + 64 * mib < freed.mappedBytes)
    return 1;
  if (argc > 3)
    printf("present %ld MiB\n", presentKib() / 1024);
  rlim_t bytes = argc > 2 ? strtoul(argv[2], NULL, 0) * mib : 0;
  struct rlimit limit = {bytes, bytes};
  if (bytes && setrlimit(RLIMIT_AS, &limit))
    return 1;
  void *memory =
      mmap(NULL, strtoul(argv[1], NULL, 0) * mib, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  puts(memory == MAP_FAILED ? "no memory" : "mapped");
  malloc_trim(0);
  struct mpg_heap_stats left = {sizeof left};
  if (stats(&left))
    return 1;
  printf("thp %lld MiB, normal %lld MiB\n", (long long)left.thpBytes / mib,
         (long long)left.normalBytes / mib);
  return 0;
}
