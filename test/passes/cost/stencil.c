// A tag costs an instruction in the vector loop of the three-point stencil,
// where one base serves three loads, or the loop loses a hint.
// RUN: %same-vector-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 2
// RUN: %tagged %t.s --loops --tag 0x02 --at-least 4

#include <mpg/hints.h>

void stencil(MPG_SECTOR(2) const double *restrict in,
             MPG_STREAM double *restrict out, long n) {
  for (long i = 1; i < n - 1; i++)
    out[i] = 0.25 * in[i - 1] + 0.5 * in[i] + 0.25 * in[i + 1];
}
