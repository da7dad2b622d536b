// Allocates zeroed blocks in memory that was used and freed, writes to few of
// their pages, and checks every byte; with an argument in a forked child.
// Prints the wrong bytes, or "right".
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { usedBytes = 1500 << 10, blockBytes = 17043456, blocks = 3 };

static int isZero(const char *block, size_t bytes) {
  return block && block[0] == 0 && memcmp(block, block + 1, bytes - 1) == 0;
}

static int allocateBlocks(void) {
  int wrong = 0;
  for (int i = 0; i < blocks; ++i) {
    char *volatile used = malloc(usedBytes);
    memset(used, 1, usedBytes);
    free(used);
    char *block = calloc(1, blockBytes);
    wrong += !isZero(block, blockBytes);
    for (size_t at = 0; block && at < blockBytes; at += blockBytes / 5)
      block[at] = 1;
  }
  return wrong;
}

int main(int argc, char **argv) {
  (void)argv;
  int status = 0;
  if (argc == 1)
    status = allocateBlocks();
  else if (fork() == 0)
    _exit(allocateBlocks());
  else
    wait(&status);
  printf(status ? "wrong: %d\n" : "right\n", status);
  return status != 0;
}
