/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * 1.75 MiB beside a border of 2 MiB that asked for large pages: no page of 2 MiB
 * fits in, smaller ones do.
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

int main(void) {
  const size_t large = 2 << 20, shift = 64 << 10, bytes = 1792 << 10;
  char *space = mmap(0, 3 * large, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (space == MAP_FAILED)
    return 1;
  char *start = (char *)(((uintptr_t)space + large - 1) & ~(large - 1)) + shift;
  if (madvise(start, bytes, MADV_HUGEPAGE) != 0)
    return 1;
  memset(start, 1, bytes);
  return 0;
}
