/* Rows of a sparse matrix whose loops are unrolled: basic blocks of many
 * accesses. Columns near each other, and anywhere. */
#include <stdio.h>

enum { rows = 600, perRow = 12, columns = 1 << 14 };

static double values[rows * perRow], x[columns], y[rows];
static int near[rows * perRow], far[rows * perRow];
static struct { char gap; double member[3]; } __attribute__((packed)) odd[rows];

__attribute__((noinline)) static void multiply(const int *column, int first) {
  for (int row = first; row < rows; ++row) {
    double sum = odd[row].member[0] + odd[row].member[2];
#pragma clang loop unroll(full)
    for (int i = 0; i < perRow; ++i)
      sum += values[row * perRow + i] * x[column[row * perRow + i]];
    y[row] += sum;
  }
}

int main(void) {
  unsigned state = 1;
  for (int i = 0; i < rows * perRow; ++i) {
    state = state * 1664525 + 1013904223;
    near[i] = i / perRow * 10 + i % perRow;
    far[i] = state >> 18;
    values[i] = i % 7;
  }
  for (int i = 0; i < columns; ++i)
    x[i] = i % 5;
  for (int turn = 0; turn < 4; ++turn)
    multiply(turn & 1 ? far : near, turn * 3);
  printf("%g %g\n", y[5], y[rows - 1]);
  return 0;
}
