/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C library's functions where malloc is the C library's. Prints only values
 * that do not depend on other allocations.
 */
#define _GNU_SOURCE
#include "info-expect.h"

#include <malloc.h>

int main(void) {
  void *volatile block = malloc(1000);
  long used = mallinfo2().uordblks;
  void *volatile more = malloc(5000);
  used = mallinfo2().uordblks - used;
  struct mallinfo narrow = mallinfo();
  int hasInfo = narrow.arena > 0 && narrow.uordblks > 6000;
  printf("mallopt %d\n", mallopt(M_MMAP_THRESHOLD, 1 << 20));
  long large = mallinfo2().hblks;
  void *volatile big = malloc(2 << 20);
  large = mallinfo2().hblks - large;
  printf("used %ld large %ld info %d\n", used, large, hasInfo);
  free(malloc(100000));
  printf("trim %d\n", malloc_trim(0));
  printf("info %d\n", malloc_info(5, stdout));
  fflush(stdout);
  if (mpg_heap_stats) {
    struct mpg_heap_stats stats;
    stats.structBytes = sizeof stats;
    EXPECT(mpg_heap_stats(&stats), ==, -19);
    EXPECT(mpg_heap_check(), ==, 0);
  }
  malloc_stats();
  malloc_info(0, stderr);
  return block && more && big ? wrongAnswers : 2;
}
