// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Members of a class and of the one that it is derived from get blocks, large
// and small ones.
#include <cstdio>
#include <cstdlib>

struct Base {
  double *inherited;
  long first;
  double *cutoff;
};

struct Grid : Base {
  long every;
  double *cells;
  double *small;
  void make(long n);
};

__attribute__((noinline)) void Grid::make(long n) {
  inherited = new double[n];
  cutoff = static_cast<double *>(malloc(64));
  cells = static_cast<double *>(malloc(n * 8));
  small = new double[8];
  for (int round = 0; round < 3; ++round) {
    free(cells);
    cells = static_cast<double *>(malloc(n * 8));
  }
}

// Behind a pointer to a pointer, and in an object that another one has.
struct Matrix {
  double *before;
  double *values;
  Grid *grid;
};

__attribute__((noinline)) void allocate(Matrix **matrix, long n) {
  *matrix = new Matrix;
  (*matrix)->grid = new Grid;
  (*matrix)->before = new double[n];
  (*matrix)->values = new double[n];
}

__attribute__((noinline)) void refine(Matrix *matrix, long n) {
  matrix->grid->cutoff = new double[n];
}

static double *counted;

__attribute__((noinline)) void count(long n) {
  counted = new double[n]; long sizes[8]; // numbers, which hold no block
  for (long at = 0; at < n; ++at)
    counted[at] = sizes[at % 8] = at;
  counted[0] = sizes[n % 8];
}

int main() {
  count(1 << 14);
  Grid grid;
  grid.make(1 << 14);
  for (long at = 0; at < 1 << 14; ++at)
    grid.inherited[at] = grid.cells[at] = double(at);
  for (long at = 0; at < 8; ++at)
    grid.cutoff[at] = grid.small[at] = grid.cells[at * 7];
  Matrix *matrix;
  allocate(&matrix, 1 << 14);
  refine(matrix, 1 << 14);
  for (long at = 0; at < 1 << 14; ++at)
    matrix->values[at] = matrix->before[at] = matrix->grid->cutoff[at] = 1;
  printf("%g\n", counted[0] + grid.cutoff[3] + grid.small[4] + grid.inherited[5]);
}
