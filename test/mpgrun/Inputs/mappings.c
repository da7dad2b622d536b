/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Maps memory past malloc. The program of profile-mappings.test.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { mib = 1 << 20 };

static char *map(size_t bytes) {
  char *all = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED)
    exit(1);
  memset(all, 1, bytes);
  return all;
}

/* On a border of 2 MiB: what is beside it is unmapped again. */
static char *mapAligned(size_t bytes) {
  char *all = map(bytes + 2 * mib);
  size_t before = -(uintptr_t)all % (2 * mib);
  if (before)
    munmap(all, before);
  munmap(all + before + bytes, 2 * mib - before);
  return all + before;
}

int main(void) {
  char *table = map(16 * mib), *stream = map(8 * mib);
  char *aligned = mapAligned(32 * mib);
  char *gone = map(4 * mib);
  munmap(gone, 4 * mib);
  char *grown = map(2 * mib);
  grown = mremap(grown, 2 * mib, 6 * mib, MREMAP_MAYMOVE);
  /* Nowhere to grow to: it stays as it is. */
  char *kept = map(5 * mib);
  if (mremap(kept, 5 * mib, (size_t)1 << 60, MREMAP_MAYMOVE) != MAP_FAILED)
    return 1;
  return kept[1] - 1 + table[1] + stream[1] + aligned[1] + grown[1] - 4;
}
