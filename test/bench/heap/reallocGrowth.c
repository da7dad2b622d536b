/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * 40 buffers grow in turn by realloc() and are written as they grow: half of
 * them by one half each time up to 2 MiB, as vectors do, the others in steps of
 * 16 KiB, as readers of files do. When all are full they are freed; then again.
 */
#include "allocBench.h"

#define BUFFERS 40
#define FULL (2 * MIB)
#define ROUNDS 10

struct Buffer {
  char *start;
  size_t bytes;
};

/* Whether it has grown. */
static int grow(struct Buffer *buffer, int isVector) {
  if (buffer->bytes >= FULL)
    return 0;
  size_t bytes = isVector ? buffer->bytes + buffer->bytes / 2 + 48
                          : buffer->bytes + 16 * KIB;
  buffer->start = checkBlock(realloc(buffer->start, bytes), bytes);
  memset(buffer->start + buffer->bytes, 1, bytes - buffer->bytes);
  buffer->bytes = bytes;
  return 1;
}

static void fillAll(struct Buffer *buffers) {
  for (int anyGrew = 1; anyGrew;) {
    anyGrew = 0;
    for (int i = 0; i < BUFFERS; i++)
      anyGrew |= grow(&buffers[i], i % 2);
  }
}

int main(void) {
  for (int round = 0; round < ROUNDS; round++) {
    struct Buffer buffers[BUFFERS] = {{NULL, 0}};
    fillAll(buffers);
    for (int i = 0; i < BUFFERS; i++)
      free(buffers[i].start);
  }
  return 0;
}
