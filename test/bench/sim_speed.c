/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The kernels of sim_speed.py: sim_speed KERNEL ROUNDS.
 *   triad        a[i] = b[i] + s * c[i], three arrays of 8 MiB
 *   embedding    rows of 1 KiB out of 64 MiB, at random, summed up
 *   rows512      the same, rows of 512 bytes
 *   product      of two matrices of 400^2, a naive one: down columns of one
 *   banded       sparse matrix times vector, 16 elements a row side by side
 *   random       the same, anywhere in a vector of 8 MB
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  triadSize = 1 << 20,
  tableSize = 1 << 24,
  maxRowSize = 256,
  productSize = 400,
  perRow = 16,
  matrixRows = 1 << 16,
  columns = 1000000
};

static uint64_t state = 20261;
static uint64_t next(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

static void *memory(size_t bytes) {
  void *block = aligned_alloc(4096, bytes);
  if (!block)
    exit(1);
  memset(block, 1, bytes);
  return block;
}

static double triad(int rounds) {
  double *a = memory(triadSize * 8), *b = memory(triadSize * 8),
         *c = memory(triadSize * 8);
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < triadSize; ++i)
      a[i] = b[i] + (round & 3) * c[i];
  return a[17];
}

static double embedding(int rounds, int rowSize) {
  float *table = memory((size_t)tableSize * 4);
  float sum[maxRowSize] = {0};
  for (int round = 0; round < rounds * 4096; ++round) {
    const float *row = table + next() % (tableSize / rowSize) * rowSize;
    for (int i = 0; i < rowSize; ++i)
      sum[i] += row[i];
  }
  double all = 0;
  for (int i = 0; i < rowSize; ++i) // what is not read is not looked up
    all += sum[i];
  return all;
}

static double product(int rounds) {
  size_t bytes = (size_t)productSize * productSize * 8;
  double *a = memory(bytes), *b = memory(bytes), *c = memory(bytes);
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < productSize; ++i)
      for (int j = 0; j < productSize; ++j) {
        double sum = 0;
        for (int k = 0; k < productSize; ++k)
          sum += a[i * productSize + k] * b[k * productSize + j];
        c[i * productSize + j] += sum;
      }
  return c[17];
}

static double multiply(int rounds, int isBanded) {
  size_t elements = (size_t)matrixRows * perRow;
  double *values = memory(elements * 8),
         *x = memory(columns * 8 / 4096 * 4096 + 4096);
  double *y = memory(matrixRows * 8);
  int *column = memory(elements * 4);
  for (size_t i = 0; i < elements; ++i)
    column[i] = isBanded ? (int)((i / perRow * 15 + i % perRow) % columns)
                         : (int)(next() % columns);
  for (int round = 0; round < rounds; ++round)
    for (int row = 0; row < matrixRows; ++row) {
      double sum = 0;
      for (int i = row * perRow; i < (row + 1) * perRow; ++i)
        sum += values[i] * x[column[i]];
      y[row] += sum;
    }
  return y[5];
}

int main(int argc, char **argv) {
  const char *kernel = argc == 3 ? argv[1] : "";
  int rounds = argc == 3 ? atoi(argv[2]) : 0;
  double result = 0;
  if (!strcmp(kernel, "triad"))
    result = triad(rounds);
  else if (!strcmp(kernel, "embedding"))
    result = embedding(rounds, maxRowSize);
  else if (!strcmp(kernel, "rows512"))
    result = embedding(rounds, 128);
  else if (!strcmp(kernel, "product"))
    result = product(rounds);
  else if (!strcmp(kernel, "banded") || !strcmp(kernel, "random"))
    result = multiply(rounds, kernel[0] == 'b');
  else
    return 2;
  printf("%g\n", result);
  return 0;
}
