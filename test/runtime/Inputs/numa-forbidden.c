/* The NUMA functions where the system forbids their system calls: memory is
 * still available, but its node is unknown. */

#include "touch.h"

enum { bytes = 16 << 20 };

int main(void) {
  size_t out[4];
  char *memory = mpg_alloc_onnode(bytes, 0);
  char *spread = mpg_interleave(bytes);
  if (!memory || !spread)
    return puts("wrong: no memory"), 1;
  memset(memory, 1, bytes);
  memset(spread, 1, bytes);
  errno = 0;
  if (mpg_alloc_onnode(bytes, 1) || errno != EINVAL)
    return puts("wrong: a node that nobody knows"), 1;
  errno = 0;
  if (mpg_where(memory, bytes, out, 4) != (size_t)-1 || errno != EPERM)
    return puts("wrong: mpg_where"), 1;
  mpg_free_pages(memory, bytes);
  mpg_free_pages(spread, bytes);
  puts("right");
  return 0;
}
