// A tag is put on inside the innermost loop of a sparse product in slices
// (SELL), or lost there.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 2
// RUN: %tagged %t.s --loops --tag 0x40 --at-least 1

#include <mpg/hints.h>

void sell(const long *chunkStart, const int *chunkWidth,
          MPG_STREAM const double *restrict values,
          MPG_STREAM const int *restrict columns,
          MPG_HINT(keep, no_l1_hwpf) const double *restrict x,
          double *restrict y, long chunks) {
  for (long c = 0; c < chunks; c++)
    for (int j = 0; j < chunkWidth[c]; j++)
      for (int r = 0; r < 32; r++) {
        long i = chunkStart[c] + j * 32 + r;
        y[c * 32 + r] += values[i] * x[columns[i]];
      }
}
