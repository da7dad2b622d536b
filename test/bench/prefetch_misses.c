/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Loops for prefetch_misses.py: KERNEL TIMES runs one on arrays of 16 MiB. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { side = 1448, count = side * side, rowLength = 16, rows = count / rowLength };
double a[count], b[count], c[count];
int columns[count];

__attribute__((noinline)) static void triad(void) {
  for (long i = 0; i < count; ++i)
    a[i] = b[i] + 3 * c[i];
}
__attribute__((noinline)) static void stencil(void) {
  for (long row = 1; row < side - 1; ++row)
    for (long i = row * side + 1; i < (row + 1) * side - 1; ++i)
      a[i] = b[i - 1] + b[i + 1] + b[i - side] + b[i + side] - 4 * b[i];
}
/* Each row has its elements anywhere in a band of 32 KiB. */
__attribute__((noinline)) static void spmv(void) {
  for (long row = 0; row < rows; ++row) {
    double sum = 0;
    for (long k = row * rowLength; k < (row + 1) * rowLength; ++k)
      sum += b[k] * c[columns[k]];
    a[row] = sum;
  }
}
/* Rows of 1 KiB, anywhere in the table. */
__attribute__((noinline)) static void embedding(void) {
  enum { length = 128 };
  for (long row = 0; row < count / length; ++row)
    for (long i = 0; i < length; ++i)
      a[row * length + i] += b[(long)columns[row] % (count / length) * length + i];
}
/* One column after another: steps of 11 KiB. */
__attribute__((noinline)) static void column(void) {
  for (long i = 0; i < side; i += 8) {
    double sum = 0;
    for (long row = 0; row < side; ++row)
      sum = sum * 0.5 + b[row * side + i];
    a[i] = sum;
  }
}

static const struct {
  const char *name;
  void (*run)(void);
} kernels[] = {{"triad", triad}, {"stencil", stencil}, {"spmv", spmv}, {"embedding", embedding}, {"column", column}};

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  unsigned state = 1;
  int isEmbedding = !strcmp(argv[1], "embedding");
  for (long k = 0; k < count; ++k) {
    state = state * 1664525 + 1013904223;
    long row = k / rowLength * 16 % (count - 4096);
    columns[k] = isEmbedding ? (int)(state >> 8) : (int)(row + (state >> 20));
  }
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i)
    if (!strcmp(argv[1], kernels[i].name))
      for (int times = atoi(argv[2]); times; --times)
        kernels[i].run();
  printf("%g\n", a[side + 1]);
  return 0;
}
