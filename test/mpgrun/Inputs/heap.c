// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// heap keep|release|killed|twice [BLOCK]: 16 MiB in blocks of 1000 bytes, 40
// blocks of 1 MiB and one of 160 MiB, all in use; with them ends, also by a
// signal, or frees the larger ones first, or frees one block twice: 0 is the
// first small one, 16384 the first of 1 MiB, 16424 the last.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { smallBlocks = 16 << 10, mediumBlocks = 40 };
static char *volatile blocks[smallBlocks + mediumBlocks + 1];

static char *filled(size_t bytes) {
  char *block = malloc(bytes);
  if (!block)
    exit(3);
  memset(block, 1, bytes);
  return block;
}

int main(int argc, char **argv) {
  size_t count = 0;
  while (count < smallBlocks)
    blocks[count++] = filled(1000);
  while (count < smallBlocks + mediumBlocks)
    blocks[count++] = filled(1 << 20);
  blocks[count++] = filled(160 << 20);
  if (argc > 1 && strcmp(argv[1], "release") == 0)
    while (count > smallBlocks)
      free(blocks[--count]);
  if (argc > 1 && strcmp(argv[1], "killed") == 0)
    raise(SIGKILL);
  if (argc > 1 && strcmp(argv[1], "twice") == 0) {
    int which = argc > 2 ? atoi(argv[2]) : 0;
    free(blocks[which]);
    free(blocks[which]);
  }
  return 0;
}
