// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 256 MiB of .bss, of which ten bytes are touched, as Fortran's COMMON blocks are
// sized for the largest case; prints what it had in memory, pages of the pool
// included, in MiB. With an argument it reads all of it, which has to be zero but
// for these.
#include <stdio.h>
#include <string.h>

#define BYTES (256ul << 20)
static volatile char field[BYTES];

int main(int argc, char **argv) {
  (void)argv;
  for (unsigned i = 0; i < 10; ++i)
    field[BYTES / 10 * i] = 1;
  unsigned long kib = 0, poolKib = 0, sum = 0;
  char line[256];
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (!sscanf(line, "VmHWM: %lu", &kib))
      sscanf(line, "HugetlbPages: %lu", &poolKib);
  for (unsigned long i = 0; argc > 1 && i < BYTES; ++i)
    sum += field[i];
  if (argc > 1 && sum != 10)
    printf("wrong: %lu\n", sum);
  printf("%lu MiB\n", (kib + poolKib) >> 10);
  return 0;
}
