// A tag is put on inside the innermost loop of a dense matrix product, or
// lost there.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.s --loops --tag 0x02 --at-least 1

#include <mpg/hints.h>

void gemm(MPG_STREAM const double *restrict a,
          MPG_SECTOR(2) const double *restrict b, double *restrict c, long n) {
  for (long i = 0; i < n; i++)
    for (long k = 0; k < n; k++)
      for (long j = 0; j < n; j++)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
}
