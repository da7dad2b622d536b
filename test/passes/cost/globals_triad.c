// A tag costs an instruction in the vector loop of a triad on global arrays,
// whose addresses are constants, or the loop loses a hint.
// RUN: %same-vector-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 4
// RUN: %tagged %t.s --loops --tag 0x41 --at-least 2

#include <mpg/hints.h>

#define N 100000
MPG_STREAM double a[N];
MPG_STREAM double b[N];
MPG_HINT(sector=1, no_l1_hwpf) double c[N];

void triad(double s) {
  for (long i = 0; i < N; i++)
    a[i] = b[i] + s * c[i];
}
