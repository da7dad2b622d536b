/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The contents of newly allocated and of just freed memory, for a small, a
 * medium and a large block (of a heap with a threshold of 1 MiB). Prints facts
 * for expect_facts.py: the value of all bytes, or -1 if they differ.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The C library, too, leaves the first bytes of a freed block to the heap. */
enum { headBytes = 32 };

static int getValue(const volatile unsigned char *bytes, size_t from,
                    size_t end) {
  for (size_t at = from; at < end; ++at)
    if (bytes[at] != bytes[from])
      return -1;
  return bytes[from];
}

static void look(const char *name, size_t bytes, int staysMapped) {
  unsigned char *volatile block = malloc(bytes);
  printf("%s.malloc=%d\n", name, getValue(block, 0, bytes));
  block = realloc(block, bytes + bytes / 8);
  memset(block, 7, bytes + bytes / 8);
  free(block);
  if (staysMapped)
    printf("%s.freed=%d\n", name, getValue(block, headBytes, bytes));
  block = malloc(bytes + bytes / 8);
  printf("%s.again=%d\n", name, getValue(block, headBytes, bytes));
  free(block);
  block = calloc(bytes + bytes / 8, 1);
  printf("%s.calloc=%d\n", name, getValue(block, 0, bytes + bytes / 8));
  free(block);
}

int main(void) {
  static char buffer[1 << 12]; /* none of the heap */
  setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
  look("small", 1000, 1);
  look("medium", 100000, 1);
  look("large", 3 << 20, 0);
  return 0;
}
