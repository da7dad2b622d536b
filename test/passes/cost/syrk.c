// A tag is put on inside the innermost loop of a triangular rank update, or
// lost there: the trip count changes from row to row.
// RUN: %same-loops -O3 -ffast-math
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 1

#include <mpg/hints.h>

void syrk(MPG_STREAM const double *a, double *restrict c, long n, long m) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j <= i; j++)
      for (long k = 0; k < m; k++)
        c[i * n + j] += a[i * m + k] * a[j * m + k];
}
