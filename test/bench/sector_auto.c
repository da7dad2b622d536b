// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nests for sector_auto.py: sector_auto KERNEL A B C. A comment behind a loop
// names its kernel. Prints the ways that the program sets.

#include <mpg/mpg.h>
#include <mpg/pass.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mpg_sector_begin(const struct mpg_ways *ways) {
  fprintf(stderr, "ways: %d\n", ways->l2[1]);
  return 0;
}
void mpg_sector_end(int token) { (void)token; }

static uint64_t state;
static uint64_t next(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state * 0x2545f4914f6cdd1d >> 11;
}

/// A column of row `row` in a matrix of `rows` rows and columns.
static long column(const char *kind, long row, long k, long rows, long perRow) {
  uint64_t wild = next();
  if (!strcmp(kind, "banded"))
    return (row + (long)(wild % (rows / 16)) + rows - rows / 32) % rows;
  if (!strcmp(kind, "block")) // dense blocks of 8 columns
    return ((long)(state % (uint64_t)(rows / 8)) * 8 + k % 8) % rows;
  if (!strcmp(kind, "power")) { // some columns are in most rows
    double unit = (double)(wild % 1000003) / 1000003;
    return (long)(unit * unit * unit * (double)rows) * 7919 % rows;
  }
  if (!strcmp(kind, "fem")) { // neighbours in a cube, numbered by planes
    long side = 1;
    while (side * side * side < rows)
      side++;
    long steps[] = {-1, 0, 1};
    long at = row + steps[k % 3] + side * steps[k / 3 % 3] +
              side * side * steps[k / 9 % 3];
    return (at % rows + rows) % rows;
  }
  (void)perRow;
  return (long)(wild % (uint64_t)rows);
}

static void matrix(const char *kind, long rows, long perRow) {
  long all = rows * perRow;
  int *begin = malloc((size_t)(rows + 1) * sizeof(int));
  int *columns = malloc((size_t)all * sizeof(int));
  double *values = malloc((size_t)all * sizeof(double));
  double *x = malloc((size_t)rows * sizeof(double));
  double *y = malloc((size_t)rows * sizeof(double));
  for (long i = 0; i <= rows; i++)
    begin[i] = (int)(i * perRow);
  for (long row = 0; row < rows; row++)
    for (long k = 0; k < perRow; k++)
      columns[row * perRow + k] = (int)column(kind, row, k, rows, perRow);
  for (long i = 0; i < all; i++)
    values[i] = 1 + i % 3;
  for (long i = 0; i < rows; i++)
    x[i] = 1;
  mpg_sim_begin();
  for (int times = 0; times < 2; times++) {
#pragma omp parallel for
    for (long row = 0; row < rows; row++) { // matrix
      double sum = 0;
      for (int k = begin[row]; k < begin[row + 1]; k++)
        sum += values[k] * x[columns[k]];
      y[row] = sum;
    }
  }
  mpg_sim_end();
  printf("%g\n", y[rows / 2]);
}

/// A table of `tableBytes` beside a stream of `count` numbers.
static void gather(long tableBytes, long count) {
  long length = tableBytes / 8;
  double *table = malloc((size_t)tableBytes);
  double *stream = malloc((size_t)count * sizeof(double));
  int *at = malloc((size_t)count * sizeof(int));
  for (long i = 0; i < count; i++)
    at[i] = (int)(next() % (uint64_t)length), stream[i] = 1;
  for (long i = 0; i < length; i++)
    table[i] = 1;
  mpg_sim_begin();
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < count; i++) // gather
    sum += table[at[i]] * stream[i];
  mpg_sim_end();
  printf("%g\n", sum);
}

/// As many bytes of each stream, at equal places of L2.
static void pairs(long tableBytes, long count) {
  long length = tableBytes / 8;
  double *table = malloc((size_t)tableBytes);
  double *stream = malloc((size_t)count * sizeof(double));
  long *at = malloc((size_t)count * sizeof(long));
  for (long i = 0; i < count; i++)
    at[i] = (long)(next() % (uint64_t)length), stream[i] = 1;
  for (long i = 0; i < length; i++)
    table[i] = 1;
  mpg_sim_begin();
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < count; i++) // pairs
    sum += table[at[i]] * stream[i];
  mpg_sim_end();
  printf("%g\n", sum);
}

/// Rows of `width` numbers are looked up, scaled and written.
static void embedding(long rows, long width, long lookups) {
  float *table = malloc((size_t)(rows * width) * sizeof(float));
  float *out = malloc((size_t)(lookups * width) * sizeof(float));
  int *at = malloc((size_t)lookups * sizeof(int));
  for (long i = 0; i < lookups; i++)
    at[i] = (int)(next() % (uint64_t)rows);
  for (long i = 0; i < rows * width; i++)
    table[i] = 1;
  mpg_sim_begin();
#pragma omp parallel for
  for (long i = 0; i < lookups; i++) // embedding
    for (long k = 0; k < width; k++)
      out[i * width + k] = 2 * table[at[i] * width + k];
  mpg_sim_end();
  printf("%g\n", out[width]);
}

/// PolyBench's gesummv, atax and bicg are made of these.
static void product(long rows, long width) {
  double *a = malloc((size_t)(rows * width) * sizeof(double));
  double *x = malloc((size_t)width * sizeof(double));
  double *y = malloc((size_t)rows * sizeof(double));
  for (long i = 0; i < rows * width; i++)
    a[i] = 1;
  for (long i = 0; i < width; i++)
    x[i] = 1;
  mpg_sim_begin();
  for (long i = 0; i < rows; i++) { // product
    double sum = 0;
    for (long j = 0; j < width; j++)
      sum += a[i * width + j] * x[j];
    y[i] = sum;
  }
  mpg_sim_end();
  printf("%g\n", y[rows / 2]);
}

static void transposed(long rows, long width) {
  double *a = malloc((size_t)(rows * width) * sizeof(double));
  double *x = malloc((size_t)rows * sizeof(double));
  double *y = malloc((size_t)width * sizeof(double));
  for (long i = 0; i < rows * width; i++)
    a[i] = 1;
  for (long i = 0; i < width; i++)
    y[i] = 1;
  for (long i = 0; i < rows; i++)
    x[i] = 1;
  mpg_sim_begin();
  for (long i = 0; i < rows; i++) // transposed
    for (long j = 0; j < width; j++)
      y[j] += a[i * width + j] * x[i];
  mpg_sim_end();
  printf("%g\n", y[width / 2]);
}

static void gemm(long n) {
  double *a = malloc((size_t)(n * n) * sizeof(double));
  double *b = malloc((size_t)(n * n) * sizeof(double));
  double *c = malloc((size_t)(n * n) * sizeof(double));
  for (long i = 0; i < n * n; i++)
    a[i] = b[i] = c[i] = 1;
  mpg_sim_begin();
  for (long i = 0; i < n; i++)
    for (long k = 0; k < n; k++) // gemm
      for (long j = 0; j < n; j++)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
  mpg_sim_end();
  printf("%g\n", c[n]);
}

static void jacobi(long n) {
  double *a = malloc((size_t)(n * n) * sizeof(double));
  double *b = malloc((size_t)(n * n) * sizeof(double));
  for (long i = 0; i < n * n; i++)
    a[i] = b[i] = 1;
  mpg_sim_begin();
  for (long i = 1; i < n - 1; i++) // jacobi
    for (long j = 1; j < n - 1; j++)
      b[i * n + j] = a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] +
                     a[(i - 1) * n + j] + a[(i + 1) * n + j];
  mpg_sim_end();
  printf("%g\n", b[n + 1]);
}

int main(int argc, char **argv) {
  if (argc != 6)
    return 2;
  const char *kernel = argv[1], *kind = argv[2];
  long first = atol(argv[3]), second = atol(argv[4]);
  state = 88172645463325252u + (uint64_t)atol(argv[5]);
  if (!strcmp(kernel, "matrix"))
    matrix(kind, first, second);
  else if (!strcmp(kernel, "gather"))
    gather(first, second);
  else if (!strcmp(kernel, "pairs"))
    pairs(first, second);
  else if (!strcmp(kernel, "embedding"))
    embedding(first, atol(kind), second);
  else if (!strcmp(kernel, "product"))
    product(first, second);
  else if (!strcmp(kernel, "transposed"))
    transposed(first, second);
  else if (!strcmp(kernel, "gemm"))
    gemm(first);
  else if (!strcmp(kernel, "jacobi"))
    jacobi(first);
  return 0;
}
