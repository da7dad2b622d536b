// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An OpenMP program that correctly initialises its arrays in parallel: each
// thread its part. Prints the MiB of .bss and of the heap on each node, as the
// kernel reports them. With the word `interleave` it sets that policy and
// restarts, as numactl does.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { nodes = 4, bytes = 64 << 20, step = 65536 };

static char block[bytes];

static void print(const char *name, char *start) {
  int count[nodes] = {0};
  for (long at = 0; at < bytes; at += step) {
    void *page = start + at;
    int node = -1;
    syscall(SYS_move_pages, 0, 1L, &page, 0L, &node, 0);
    if (node >= 0 && node < nodes)
      ++count[node];
  }
  printf("%s:", name);
  for (int node = 0; node < nodes; ++node)
    printf(" %d", count[node] / ((1 << 20) / step));
  printf(" MiB\n");
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "interleave")) {
    unsigned long all = 15;
    syscall(SYS_set_mempolicy, 3, &all, 64UL);
    execv(argv[0], (char *[]){argv[0], NULL});
  }
  char *heap = malloc(bytes);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < bytes; ++i)
    heap[i] = block[i] = 1;
  print("bss", block);
  print("heap", heap);
  return 0;
}
