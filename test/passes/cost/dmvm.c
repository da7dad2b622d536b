// A tag costs an instruction in the vector loop of the dense matrix times a
// vector, whose base moves from row to row, or the loop loses a hint.
// RUN: %same-vector-loops -O3 -ffast-math
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 2
// RUN: %tagged %t.s --loops --tag 0x60 --at-least 2

#include <mpg/hints.h>

void dmvm(MPG_STREAM const double *restrict matrix,
          MPG_HINT(keep, no_hwpf) const double *restrict l, double *restrict r,
          long rows, long columns) {
  for (long i = 0; i < rows; i++) {
    double sum = 0;
    for (long j = 0; j < columns; j++)
      sum += matrix[i * columns + j] * l[j];
    r[i] = sum;
  }
}
