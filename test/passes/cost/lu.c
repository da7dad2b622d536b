// A tag is put on inside the innermost loop of an LU factorisation in place,
// or lost there: loads and stores share the base.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x41 --at-least 3

#include <mpg/hints.h>

void lu(MPG_HINT(sector=1, no_l1_hwpf) double *a, long n) {
  for (long k = 0; k < n; k++)
    for (long i = k + 1; i < n; i++) {
      a[i * n + k] /= a[k * n + k];
      for (long j = k + 1; j < n; j++)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
}
