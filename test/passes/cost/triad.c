// A tag costs an instruction in the vector loop of the STREAM triad, or the
// loop loses a hint.
// RUN: %same-vector-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 4
// RUN: %tagged %t.s --loops --tag 0x41 --at-least 2

#include <mpg/hints.h>

void triad(MPG_STREAM double *restrict a, MPG_STREAM const double *restrict b,
           MPG_HINT(sector=1, no_l1_hwpf) const double *restrict c, double s,
           long n) {
  for (long i = 0; i < n; i++)
    a[i] = b[i] + s * c[i];
}
