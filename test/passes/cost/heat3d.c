// A tag is put on inside the innermost loop of a seven-point stencil on
// arrays of fixed shape that are swapped by a time loop, or lost there.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 2
// RUN: %tagged %t.s --loops --tag 0x02 --at-least 14

#include <mpg/hints.h>

#define N 64
typedef double Grid[N][N][N];

static void sweep(MPG_SECTOR(2) Grid *in, MPG_STREAM Grid *out) {
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      for (int k = 1; k < N - 1; k++)
        (*out)[i][j][k] = 0.4 * (*in)[i][j][k] +
                          0.1 * ((*in)[i][j][k - 1] + (*in)[i][j][k + 1] +
                                 (*in)[i][j - 1][k] + (*in)[i][j + 1][k] +
                                 (*in)[i - 1][j][k] + (*in)[i + 1][j][k]);
}

void heat3d(Grid *one, Grid *other, int steps) {
  for (int t = 0; t < steps; t++) {
    sweep(one, other);
    sweep(other, one);
  }
}
