// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// zfill_traffic KERNEL TIMES: loops that write an array of 16 MiB, for
// zfill_traffic.py.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { side = 1448, count = side * side };
static double a[count], b[count], c[count], d[count];
typedef void kernel(double *restrict to, const double *x, const double *y);

static void copy(double *restrict to, const double *x, const double *y) {
  (void)y;
  for (long i = 0; i < count; ++i)
    to[i] = x[i];
}
static void scale(double *restrict to, const double *x, const double *y) {
  (void)y;
  for (long i = 0; i < count; ++i)
    to[i] = 3 * x[i];
}
static void add(double *restrict to, const double *x, const double *y) {
  for (long i = 0; i < count; ++i)
    to[i] = x[i] + y[i];
}
static void triad(double *restrict to, const double *x, const double *y) {
  for (long i = 0; i < count; ++i)
    to[i] = x[i] + 3 * y[i];
}
static void fill(double *restrict to, const double *x, const double *y) {
  (void)x, (void)y;
  for (long i = 0; i < count; ++i)
    to[i] = 1.5;
}
static void stencil(double *restrict to, const double *x, const double *y) {
  (void)y;
  for (long row = 1; row < side - 1; ++row)
    for (long i = row * side + 1; i < (row + 1) * side - 1; ++i)
      to[i] = x[i - 1] + x[i + 1] + x[i - side] + x[i + side] - 4 * x[i];
}
static void transpose(double *restrict to, const double *x, const double *y) {
  (void)y;
  for (long row = 0; row < side; ++row)
    for (long i = 0; i < side; ++i)
      to[row * side + i] = x[i * side + row];
}
static void axpy(double *restrict to, const double *x, const double *y) {
  (void)y;
  for (long i = 0; i < count; ++i)
    to[i] += 3 * x[i];
}

static const struct {
  const char *name;
  kernel *run;
} kernels[] = {{"copy", copy},           {"scale", scale}, {"add", add},
               {"triad", triad},         {"fill", fill},   {"stencil", stencil},
               {"transpose", transpose}, {"axpy", axpy}};

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i)
    if (!strcmp(argv[1], kernels[i].name))
      for (int times = atoi(argv[2]); times; --times) // others come between
        kernels[i].run(times % 2 ? a : d, b, c);
  printf("%g\n", a[side + 1] + d[side + 1]);
  return 0;
}
