// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// large [STATUS|crash|wait|quick|split]: 8 MiB of .data and 64 MiB of .bss, all in use.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char cleared[64 << 20] __attribute__((aligned(4096)));
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
  if (argc > 1 && strcmp(argv[1], "quick") == 0)
    _exit(0);
  // A hole of one page in each large one.
  if (argc > 1 && strcmp(argv[1], "split") == 0)
    for (size_t i = 0; i < sizeof(cleared); i += 2 << 20)
      madvise(cleared + i + 4096, 4096, MADV_DONTNEED);
  return argc > 1 ? atoi(argv[1]) : 0;
}
