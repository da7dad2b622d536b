/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A team of OpenMP: each thread's share of an array is first written, and read
 * twice, by itself; a small table is read by all; barriers in between.
 */
#include <stdio.h>

enum { N = 1 << 18, SMALL = 4096 };
static double own[N], table[SMALL];

int main(void) {
  double sum = 0;
  for (int i = 0; i < SMALL; ++i)
    table[i] = i;
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int i = 0; i < N; ++i)
      own[i] = i & 7;
    for (int round = 0; round < 2; ++round) {
#pragma omp for schedule(static)
      for (int i = 0; i < N; ++i)
        own[i] += table[(i * 5) & (SMALL - 1)];
    }
  }
  for (int i = 0; i < N; i += 512)
    sum += own[i];
  printf("sum %.0f\n", sum);
  return 3;
}
