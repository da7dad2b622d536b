// A tag is put on inside the innermost loop of a product with the transposed
// matrix, or lost there: the columns are read with a stride.
// RUN: %same-loops -O3 -ffast-math
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.s --loops --tag 0x40 --at-least 1

#include <mpg/hints.h>

void transposedProduct(MPG_STREAM const double *restrict matrix,
                       MPG_HINT(keep, no_l1_hwpf) const double *restrict x,
                       double *restrict y, long n) {
  for (long j = 0; j < n; j++)
    for (long i = 0; i < n; i++)
      y[j] += matrix[i * n + j] * x[i];
}
