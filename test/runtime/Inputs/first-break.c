// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves the break, and writes below what it finds first, where the C library's
// malloc has memory.

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEP = 4096, STEPS = 40 };

int main(void) {
  free(malloc(100));
  char *first = sbrk(0);
  for (int i = 0; i < STEPS; i++) {
    char *start = sbrk(STEP);
    if (start != first + i * STEP)
      return 1;
    start[-1] = 1;
    start[STEP - 1] = 2;
  }
  if (brk(first) != 0 || sbrk(0) != first)
    return 2;
  printf("right\n");
  return 0;
}
