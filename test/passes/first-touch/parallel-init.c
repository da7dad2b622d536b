// In the mode parallel-init the loop that fills the array runs on all threads if no
// iteration needs another; where that is not proven, the array is placed as usual. The
// program's result stays the same, bit by bit.
// RUN: %remarks-mode parallel-init %c-loaded %s | %expect %s
// RUN: %same-args --args 600000 --args 4 --args 0 -- %c-program %s | FileCheck %s --check-prefix=SAME
// SAME: same: 60 runs
#include <stdio.h>
#include <stdlib.h>
#define CASE __attribute__((noinline)) double
#define USE(a)                                                                 \
  _Pragma("omp parallel for schedule(static)")                                 \
  for (long i = 0; i < n; ++i) a[i] += 1;                                      \
  double last = n ? a[n - 1] + a[n / 2] : 0;                                   \
  free(a);                                                                     \
  return last

// CHECK: independent: calls 0, InitParallelised@[[#@LINE+3]], SerialFirstTouch@[[#@LINE+3]]
CASE independent(long n) {
  double *a = malloc(n * sizeof(double));
  for (long i = 0; i < n; ++i) a[i] = 0.1 * i;
  USE(a);
}
// Each element from the one before: the rounding of a sum depends on its order.
// CHECK: dependent: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+4]]
CASE dependent(long n) {
  double *a = malloc(n * sizeof(double));
  double x = 0;
  for (long i = 0; i < n; ++i) a[i] = x += 0.1;
  USE(a);
}
// Who calls it in what order matters.
// CHECK: random_numbers: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+4]]
CASE random_numbers(long n) {
  double *a = malloc(n * sizeof(double));
  srand(1);
  for (long i = 0; i < n; ++i) a[i] = rand();
  USE(a);
}
// Reads what it has written: a Fibonacci modulo 1000.
// CHECK: recurrent: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE recurrent(long n) {
  int *a = malloc(n * sizeof(int));
  for (long i = 0; i < n; ++i) a[i] = i < 2 ? i : (a[i - 1] + a[i - 2]) % 1000;
  USE(a);
}
// Writes another array as well, which may be the same elements again and again.
// CHECK: counts: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE counts(long n, int *histogram) {
  double *a = malloc(n * sizeof(double));
  for (long i = 0; i < n; ++i) { a[i] = i; histogram[i * 7 % 10]++; }
  USE(a);
}

int main(int argc, char **argv) {
  long n = atol(argv[1]);
  int histogram[10] = {0};
  printf("%a %a %a %a %a", independent(n), dependent(n), random_numbers(n), recurrent(n),
         counts(n, histogram));
  printf(" %d\n", histogram[3]);
}
// CHECK: end
