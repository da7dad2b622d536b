/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A table of 4 MiB that is read again and again, beside a stream of 32 MiB:
 * both together do not fit into the 7 MiB of L2 that a job has.
 */
#include <stdio.h>

#define TABLE (512 << 10)
#define STREAM (4 << 20)

static double table[TABLE];
static double values[STREAM];

int main(int argc, char **argv) {
  double sum = 0;
  // So that the compiler does not know them.
  table[argc] = values[argc] = argc;
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < STREAM; ++i)
      sum += values[i] * table[i % TABLE];
  printf("%g\n", sum);
  return argc - 1;
}
