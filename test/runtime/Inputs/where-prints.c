/* Memory of known state for mpg_print_where; prints the tables on standard
 * error. */

#define _GNU_SOURCE
#include "touch.h"

int main(void) {
  size_t page = (size_t)getpagesize(), bytes = 1000 * page;
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  mpg_print_where(memory, bytes, "untouched");
  memset(memory, 1, bytes / 4);
  mpg_print_where(memory, bytes, "a quarter");
  memset(memory, 1, bytes);
  errno = 77;
  mpg_print_where(memory, bytes, NULL);
  if (errno != 77)
    puts("wrong: errno");
  mpg_print_where(memory + 100, 1000, "inside\tof a page");
  mpg_print_where(memory, 0, "nothing");
  munmap(memory + bytes / 2, page);
  mpg_print_where(memory, bytes, "a hole");
  mpg_print_where((void *)16, SIZE_MAX - 8, "everything");
  size_t large = 16 << 20;
  char *pages = mpg_alloc_onnode(large, 0);
  mpg_print_where(pages, large, "large pages");
  return 0;
}
