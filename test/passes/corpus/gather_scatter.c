// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indirect accesses: sparse matrix, histogram, gather, scatter, table of
// tables.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void spmv(int rows, const int *starts, const int *columns,
                 const double *values, const double *x, double *y) {
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    for (int k = starts[i]; k < starts[i + 1]; ++k)
      sum += values[k] * x[columns[k]];
    y[i] = sum;
  }
}

static void gather(float *to, const float *from, const uint16_t *at, int n) {
  for (int i = 0; i < n; ++i)
    to[i] = from[at[i]];
}
static void scatter(float *to, const float *from, const uint16_t *at, int n) {
  for (int i = 0; i < n; ++i)
    to[at[i]] += from[i];
}

int main(void) {
  enum { rows = 700, wide = 9 };
  int *starts = malloc((rows + 1) * sizeof(int));
  int *columns = malloc(rows * wide * sizeof(int));
  double *values = malloc(rows * wide * sizeof(double)), x[rows], y[rows];
  starts[0] = 0;
  for (int i = 0, k = 0; i < rows; ++i) {
    for (int j = 0; j < 1 + i % wide; ++j, ++k) {
      columns[k] = (i * 31 + j * 17) % rows;
      values[k] = j - 3.5;
    }
    starts[i + 1] = k;
    x[i] = i % 23;
  }
  spmv(rows, starts, columns, values, x, y);
  float from[512], to[512], table[512] = {0};
  uint16_t at[512];
  int histogram[16] = {0}, *tables[4];
  for (int i = 0; i < 512; ++i) {
    from[i] = (float)i;
    at[i] = (uint16_t)(i * 77 % 512);
    ++histogram[at[i] % 16];
  }
  gather(to, from, at, 512);
  scatter(table, to, at, 512);
  for (int i = 0; i < 4; ++i)
    tables[i] = histogram + 4 * i;
  double sum = 0;
  for (int i = 0; i < rows; ++i)
    sum += y[i] * (i % 3 + 1);
  int total = 0;
  for (int i = 0; i < 512; ++i)
    total += tables[i % 4][i / 4 % 4];
  printf("%.10g %g %g %d\n", sum, to[100], table[100], total);
  for (int i = 0; i < 512; ++i)
    if (table[i] != i)
      return 1;
  return total == 512 * 32 ? 0 : 2;
}
