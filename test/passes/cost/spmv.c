// A tag costs an instruction in the vector loop of the sparse product, whose
// loads go through an index, or the loop loses a hint.
// RUN: %same-vector-loops -O3 -ffast-math
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 4
// RUN: %tagged %t.s --loops --tag 0x40 --at-least 1

#include <mpg/hints.h>

void spmv(const long *rowStart, MPG_STREAM const double *values,
          MPG_STREAM const int *columns,
          MPG_HINT(keep, no_l1_hwpf) const double *x, double *restrict y,
          long rows) {
  for (long r = 0; r < rows; r++) {
    double sum = 0;
    for (long i = rowStart[r]; i < rowStart[r + 1]; i++)
      sum += values[i] * x[columns[i]];
    y[r] = sum;
  }
}
