// A tag is put on inside the innermost loop of a forward substitution, or
// lost there: each row needs the result of the one before.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.s --loops --tag 0x40 --at-least 1

#include <mpg/hints.h>

void solve(MPG_STREAM const double *restrict l,
           MPG_HINT(keep, no_l1_hwpf) double *x, const double *restrict b,
           long n) {
  for (long i = 0; i < n; i++) {
    double sum = b[i];
    for (long j = 0; j < i; j++)
      sum -= l[i * n + j] * x[j];
    x[i] = sum / l[i * n + i];
  }
}
