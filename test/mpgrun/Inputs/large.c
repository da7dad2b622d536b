// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// large [STATUS|crash|wait]: 8 MiB of .data and 64 MiB of .bss, all in use.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char cleared[64 << 20];
static char filled[8 << 20] = {1};

int main(int argc, char **argv) {
  memset(cleared, 1, sizeof(cleared));
  memset(filled, 2, sizeof(filled));
  printf("sum %d\n", cleared[17] + filled[sizeof(filled) - 1]);
  fflush(stdout);
  if (argc > 1 && strcmp(argv[1], "crash") == 0)
    raise(SIGSEGV);
  if (argc > 1 && strcmp(argv[1], "wait") == 0)
    for (;;)
      pause();
  return argc > 1 ? atoi(argv[1]) : 0;
}
