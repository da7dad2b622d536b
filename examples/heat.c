/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Heat in a plate, 20 steps: 96 MiB of static arrays, typical of old Fortran
 * codes and of many small ones.
 */
#include <stdio.h>

enum { n = 2048 };
static double now[n][n], next[n][n], source[n][n];

int main(void) {
  source[n / 2][n / 2] = 1;
  for (int step = 0; step < 20; step++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        next[i][j] = source[i][j] + 0.25 * (now[i - 1][j] + now[i + 1][j] +
                                            now[i][j - 1] + now[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        now[i][j] = next[i][j];
  }
  printf("in the middle: %.6f\n", now[n / 2][n / 2]);
  return 0;
}
