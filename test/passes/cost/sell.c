// A tag is put on inside the innermost loop of a sparse product in slices
// (SELL), or lost there.
// RUN: %a64fx -O3 -S %s -o %t.plain.s
// RUN: %a64fx -O3 %hints -S %s -o %t.s
// RUN: %python %tools/innermost_loops.py %t.plain.s %t.s
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 2
// RUN: %tagged %t.s --loops --tag 0x40 --at-least 1
// RUN: %tagged %t.plain.s --at-most 0

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
