/* Locks its memory, works, and prints whether the memory it has written is
 * locked. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(int count, char **arguments) {
  int flags = count > 1 ? MCL_CURRENT : MCL_CURRENT | MCL_FUTURE;
  if (mlockall(flags))
    return printf("mlockall: %s\n", strerror(errno)), 1;
  for (int i = 0; i < 20; ++i) {
    char *block = malloc(100000);
    if (!block)
      return printf("no memory\n"), 1;
    memset(block, 1, 100000);
  }
  printf("locked, and %s\n", munlockall() ? strerror(errno) : "not any more");
  return 0;
}
