// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of stream_stores.c, under the names that -DNAME gives.

extern long side; // of the grid
#define ARRAYS double *restrict to, const double *x, const double *y, long n

void NAME(scale)(ARRAYS) {
  (void)y;
#pragma omp parallel for
  for (long i = 0; i < n; ++i)
    to[i] = 3 * x[i];
}
void NAME(add)(ARRAYS) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i)
    to[i] = x[i] + y[i];
}
void NAME(triad)(ARRAYS) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i)
    to[i] = x[i] + 3 * y[i];
}
void NAME(stencil)(ARRAYS) {
  (void)y;
  long s = side;
#pragma omp parallel for
  for (long row = 1; row < n / s - 1; ++row)
    for (long i = 1; i < s - 1; ++i)
      to[row * s + i] = x[row * s + i - 1] + x[row * s + i + 1] +
                        x[(row - 1) * s + i] + x[(row + 1) * s + i];
}
