/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The kernels of sim_qemu.py: sim_qemu KERNEL ROUNDS.
 *   triad    a[i] = b[i] + s * c[i], arrays of 8 MiB
 *   lookup   rows of 1 KiB out of 64 MiB, at random, two summed up
 *   sparse   sparse matrix times vector, 16 elements a row anywhere
 *   product  of matrices of 256 x 256, by columns and rows
 *   threads  the triad by four threads
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { size = 1 << 20, rowSize = 256, rows = 1 << 16, order = 256, team = 4 };

static double a[size], b[size], c[size];
float table[rows][rowSize], sums[team][rowSize];
static int column[size];
double left[order][order], right[order][order], result[order][order];
static int rounds;

static uint64_t state = 20261;
static uint64_t next(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

static void triad(int from, int to) {
  for (int round = 0; round < rounds; ++round)
    for (int i = from; i < to; ++i)
      a[i] = b[i] + (round & 3) * c[i];
}

static void *share(void *number) {
  int part = (int)(intptr_t)number;
  triad(part * (size / team), (part + 1) * (size / team));
  return NULL;
}

static void threads(void) {
  pthread_t all[team];
  for (intptr_t part = 0; part < team; ++part)
    if (pthread_create(&all[part], NULL, share, (void *)part))
      exit(1);
  for (int part = 0; part < team; ++part)
    pthread_join(all[part], NULL);
}

static void lookup(void) {
  for (int round = 0; round < rounds * 4096; ++round) {
    const float *one = table[next() % rows], *other = table[next() % rows];
    float *sum = sums[round % team];
    for (int i = 0; i < rowSize; ++i)
      sum[i] = one[i] + other[i];
  }
}

static void sparse(void) {
  for (int round = 0; round < rounds; ++round)
    for (int row = 0; row < size / 16; ++row) {
      double sum = 0;
      for (int i = row * 16; i < (row + 1) * 16; ++i)
        sum += b[i] * c[column[i]];
      a[row] += sum;
    }
}

static void product(void) {
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < order; ++i)
      for (int j = 0; j < order; ++j) {
        double sum = result[i][j];
        for (int k = 0; k < order; ++k)
          sum += left[i][k] * right[k][j];
        result[i][j] = sum;
      }
}

int main(int argc, char **argv) {
  const char *kernel = argc == 3 ? argv[1] : "";
  rounds = argc == 3 ? atoi(argv[2]) : 0;
  for (int i = 0; i < size; ++i) {
    b[i] = c[i] = i & 7;
    column[i] = (int)(next() % size);
  }
  if (!strcmp(kernel, "triad"))
    triad(0, size);
  else if (!strcmp(kernel, "lookup"))
    lookup();
  else if (!strcmp(kernel, "sparse"))
    sparse();
  else if (!strcmp(kernel, "product"))
    product();
  else if (!strcmp(kernel, "threads"))
    threads();
  else
    return 2;
  printf("%g\n", a[17] + sums[1][3] + result[5][7]);
  return 0;
}
