/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reads anywhere in 160 MiB: more than 1,024 pages of 64 KiB, and 80 of 2 MiB. A
 * heap that moves it, or a stack and globals that do, must not matter.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { count = 20 << 20, reads = 1 << 20 };

int main(int argc, char **argv) {
  double *table = calloc(count, sizeof(*table)), sum = 0;
  if (!table)
    return 1;
  table[argc] = argc; // else the compiler knows that all are 0
  uint64_t state = 1;
  for (int i = 0; i < reads; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    sum += table[(state >> 33) % count];
  }
  printf("%g\n", sum);
  free(table);
}
