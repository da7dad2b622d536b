// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stencils in one, two and three dimensions, with two buffers that change
// roles.
#include <stdio.h>
#include <stdlib.h>

static void line(double *to, const double *from, int n) {
  for (int i = 1; i < n - 1; ++i)
    to[i] = 0.25 * from[i - 1] + 0.5 * from[i] + 0.25 * from[i + 1];
}

static void plane(float *to, const float *from, int n) {
  for (int i = 1; i < n - 1; ++i)
    for (int j = 1; j < n - 1; ++j)
      to[i * n + j] =
          0.2f * (from[i * n + j] + from[i * n + j - 1] + from[i * n + j + 1] +
                  from[(i - 1) * n + j] + from[(i + 1) * n + j]);
}

// In place: each point needs the new value of the one before.
static void seidel(double (*a)[20][20]) {
  for (int i = 1; i < 19; ++i)
    for (int j = 1; j < 19; ++j)
      for (int k = 1; k < 19; ++k)
        a[i][j][k] = (a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] +
                      a[i][j + 1][k] + a[i][j][k - 1] + a[i][j][k + 1]) /
                     6;
}

int main(void) {
  enum { n = 1000, side = 50 };
  static double lines[2][n], cube[20][20][20];
  float *planes[2] = {calloc(side * side, 4), calloc(side * side, 4)};
  for (int i = 0; i < n; ++i)
    lines[0][i] = lines[1][i] = i % 50 == 0;
  for (int i = 0; i < side * side; ++i)
    planes[0][i] = planes[1][i] = (float)(i % 7);
  for (int i = 0; i < 8000; ++i)
    (&cube[0][0][0])[i] = i % 13;
  for (int step = 0; step < 21; ++step) {
    line(lines[(step + 1) % 2], lines[step % 2], n);
    plane(planes[1], planes[0], side);
    float *t = planes[0];
    planes[0] = planes[1];
    planes[1] = t;
    seidel(cube);
  }
  double sums[3] = {0};
  for (int i = 0; i < n; ++i)
    sums[0] += lines[1][i] * (i % 9);
  for (int i = 0; i < side * side; ++i)
    sums[1] += planes[0][i] * (i % 5);
  for (int i = 0; i < 8000; ++i)
    sums[2] += (&cube[0][0][0])[i];
  printf("%.14g %.7g %.14g\n", sums[0], sums[1], sums[2]);
  return sums[2] > 0 ? 0 : 1;
}
