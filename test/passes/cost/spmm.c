// A tag is put on inside the innermost loop of a sparse times a dense matrix,
// or lost there: the row of the dense one is chosen by an index.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 2
// RUN: %tagged %t.s --loops --tag 0x02 --at-least 1

#include <mpg/hints.h>

void spmm(const long *rowStart, MPG_STREAM const double *values,
          MPG_STREAM const int *columns, MPG_SECTOR(2) const double *restrict b,
          double *restrict c, long rows, long width) {
  for (long r = 0; r < rows; r++)
    for (long i = rowStart[r]; i < rowStart[r + 1]; i++)
      for (long j = 0; j < width; j++)
        c[r * width + j] += values[i] * b[columns[i] * width + j];
}
