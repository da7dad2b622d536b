// Takes blocks of 20,000 bytes until malloc returns NULL, frees the first 400,
// and prints how much of their memory serves for blocks of 150,000 bytes.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { freed = 400, bytes = 20000, otherBytes = 150000 };

int main(void) {
  static char *blocks[100000];
  int count = 0, others = 0, isFull;
  while (count < 100000 && (blocks[count] = malloc(bytes)))
    memset(blocks[count++], 1, bytes);
  errno = 0;
  isFull = !malloc(otherBytes) && errno == ENOMEM;
  for (int i = 0; i < freed && i < count; ++i)
    free(blocks[i]);
  errno = 0;
  for (char *block;
       others < freed * bytes / otherBytes && (block = malloc(otherBytes));
       ++others)
    memset(block, 2, otherBytes);
  for (int i = freed; i < count; ++i)
    if (blocks[i][0] != 1 || blocks[i][bytes - 1] != 1)
      return 1;
  printf("%d blocks, full: %d, others: %d of 53\n", count, isFull, others);
  return 0;
}
