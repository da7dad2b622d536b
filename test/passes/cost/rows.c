// A tag is put on inside the innermost loop of a loop over the rows of a
// matrix that is an array of pointers, or lost there: the rows' addresses are
// not known before the outer loop.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x41 --at-least 2

#include <mpg/hints.h>

void scaleRows(double *const *matrix, double factor, long rows, long columns) {
  for (long i = 0; i < rows; i++) {
    MPG_HINT(sector=1, no_l1_hwpf) double *row = matrix[i];
    for (long j = 0; j < columns; j++)
      row[j] *= factor;
  }
}
