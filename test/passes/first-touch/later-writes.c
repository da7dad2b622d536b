// A write that cannot be the first does not initialise: the threads of a team have written the
// array before, or the program reads there what it has written there before.
// RUN: %remarks %s | FileCheck %s --implicit-check-not="calls 1" --implicit-check-not=SerialFirstTouch --implicit-check-not=NotBlock
// RUN: %remarks -O1 %s | FileCheck %s --implicit-check-not="calls 1" --implicit-check-not=SerialFirstTouch --implicit-check-not=NotBlock
// RUN: %remarks -DSERIAL %s | FileCheck %s --check-prefix=SERIAL
// RUN: %same %s | FileCheck %s --check-prefix=SAME
// CHECK: end
// SERIAL: first: calls {{.*}}SerialFirstTouch
// SAME: same: 20 runs
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define NOINLINE __attribute__((noinline))
#define PARALLEL _Pragma("omp parallel for schedule(static)")
enum { size = 96 };

// A separate worksharing loop, which the threads run first, and the main thread again.
static double field[size][size][size], source[size][size][size];
static NOINLINE void update(double step) {
#pragma omp for
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j)
      for (int k = 0; k < size; ++k) field[i][j][k] = source[i][j][k];
#pragma omp for
  for (int j = 0; j < size; ++j)
    for (int i = 0; i < size; ++i)
      for (int k = 0; k < size; ++k) field[i][j][k] = field[i][j][k] * step + j;
}
// Each thread fills its part by its number.
static NOINLINE double by_number(long n) {
  double *a = malloc(n * sizeof *a);
#pragma omp parallel
  {
    long part = n / omp_get_num_threads(), from = part * omp_get_thread_num();
    for (long i = 0; i < part; ++i) a[from + i] = i;
  }
  for (long i = 0; i < n; ++i) a[i] = 7;
  PARALLEL
  for (long i = 0; i < n; ++i) a[i] += 1;
  double last = a[n - 1];
  free(a);
  return last;
}
// Code that is not seen fills it: with fewer threads or with more.
NOINLINE __attribute__((optnone)) void fill(double *a, long n) {
  PARALLEL
  for (long i = 0; i < n; ++i) a[i] = i;
}
void (*volatile filler)(double *, long) = fill;
static NOINLINE double scaled(long n) {
  double *a = malloc(n * sizeof *a);
  filler(a, n);
  for (long i = 0; i < n; ++i) a[i] *= 2;
  PARALLEL
  for (long i = 0; i < n; ++i) a[i] += 1;
  double last = a[n - 1];
  free(a);
  return last;
}
#ifdef SERIAL
// One thread runs such a loop first: that is an initialisation.
static double begun[size][size][size];
static NOINLINE void first(double step) {
#pragma omp for
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j)
      for (int k = 0; k < size; ++k) begun[i][j][k] = source[i][j][k] + step;
}
static NOINLINE double both(void) {
  first(1);
#pragma omp parallel
  first(2);
  return begun[1][2][3];
}
#else
static double both(void) { return 0; }
#endif

int main(void) {
#pragma omp parallel
  for (int step = 0; step < 3; ++step) update(0.5);
  update(0.25);
  printf("%.3f %.1f %.1f %.1f\n", field[3][4][5], by_number(1200000), scaled(600000), both());
}
