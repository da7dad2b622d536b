// A tag is put on inside the innermost loop of a five-point stencil, or lost
// there.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.s --loops --tag 0x02 --at-least 5

#include <mpg/hints.h>

void jacobi2d(MPG_SECTOR(2) const double *restrict in,
              MPG_STREAM double *restrict out, long n) {
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < n - 1; j++)
      out[i * n + j] =
          0.2 * (in[i * n + j] + in[i * n + j - 1] + in[i * n + j + 1] +
                 in[(i - 1) * n + j] + in[(i + 1) * n + j]);
}
