// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices as pointers to rows and as variable length arrays: product, LU.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double **makeRows(int n) {
  double **rows = malloc(n * sizeof(*rows));
  for (int i = 0; i < n; ++i)
    rows[i] = malloc(n * sizeof(double));
  return rows;
}

static void multiply(int n, double **c, double **a, double **b) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k)
        sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
}

static void transpose(int n, double (*restrict out)[n], double **in) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      out[j][i] = in[i][j];
}

static double determinant(int n, double **a) {
  double product = 1;
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (fabs(a[i][k]) > fabs(a[best][k]))
        best = i;
    if (best != k) {
      double *row = a[k];
      a[k] = a[best];
      a[best] = row;
      product = -product;
    }
    product *= a[k][k];
    for (int i = k + 1; i < n; ++i) {
      double factor = a[i][k] / a[k][k];
      for (int j = k; j < n; ++j)
        a[i][j] -= factor * a[k][j];
    }
  }
  return product;
}

int main(void) {
  int n = 37;
  double **a = makeRows(n), **b = makeRows(n), **c = makeRows(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      a[i][j] = (i * 7 + j * 3) % 11 + (i == j) * 20;
      b[i][j] = (i * 5 + j) % 13 - (i == j) * 15;
    }
  multiply(n, c, a, b);
  double (*t)[n] = malloc(sizeof(double[n][n]));
  transpose(n, t, c);
  double sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      sum += t[i][j] * (i - 2 * j);
  double da = determinant(n, a), db = determinant(n, b);
  double dc = determinant(n, c);
  printf("%.15g %.10g %.10g %.10g\n", sum, da, db, dc);
  return fabs(dc / (da * db) - 1) < 1e-9 ? 0 : 1;
}
