// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints where 64 MiB of untouched .bss are: the node in the middle of each
// eighth ("-" where no page is present), the MiB on each node without the first
// and last 2 MiB (whose large pages hold other variables, too, and were written
// before), and, after writing to all of it, the MiB on large pages. With the
// word `interleave` it sets that policy and restarts, as numactl does.

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { nodes = 4, parts = 8, bytes = 64 << 20, edge = 2 << 20, step = 65536 };

static char block[bytes];

static int getNode(long at) {
  void *page = block + at;
  int node = -1;
  syscall(SYS_move_pages, 0, 1L, &page, 0L, &node, 0);
  return node;
}

/// Of all mappings that .bss has a part of.
static void printLarge(void) {
  FILE *file = fopen("/proc/self/smaps", "r");
  unsigned long first = (unsigned long)block, start, end;
  char line[512];
  int pool = 0, transparent = 0, kib, isInside = 0;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
      isInside = start < first + bytes && first < end;
    else if (isInside && sscanf(line, "Private_Hugetlb: %d kB", &kib) == 1)
      pool += kib;
    else if (isInside && sscanf(line, "AnonHugePages: %d kB", &kib) == 1)
      transparent += kib;
  }
  fclose(file);
  printf("; pool %d transparent %d\n", pool >> 10, transparent >> 10);
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "interleave")) {
    unsigned long all = 15;
    syscall(SYS_set_mempolicy, 3, &all, 64UL);
    execv(argv[0], (char *[]){argv[0], NULL});
  }
  int count[nodes] = {0};
  for (long at = edge; at < bytes - edge; at += step)
    if (getNode(at) >= 0)
      ++count[getNode(at)];
  printf("order");
  for (long part = 0; part < parts; ++part) {
    int node = getNode((2 * part + 1) * bytes / (2 * parts));
    if (node < 0)
      printf(" -");
    else
      printf(" %d", node);
  }
  printf("; MiB");
  for (int node = 0; node < nodes; ++node)
    printf(" %d", count[node] / ((1 << 20) / step));
  memset(block, 1, bytes);
  printLarge();
  return 0;
}
