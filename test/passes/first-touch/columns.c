// A loop whose iterations work on columns of a matrix, and in passing on elements that lie one
// row apart (the diagonal, a row's edge), does not share the matrix out: no call, and NotBlock.
// Where most of the work is on an iteration's own row, the call is made for rows.
// RUN: %remarks %s | %expect %s
// RUN: %remarks -O1 -g %s | %expect %s
// RUN: %same-args --args 300 --args 3 --args 0 -- %c-program %s | FileCheck %s --check-prefix=SAME
// SAME: same: 60 runs
#include <mpg/hints.h>
#include <stdio.h>
#include <stdlib.h>
#define CASE __attribute__((noinline)) double
#define MATRIX(a)                                                              \
  double *a = malloc(n * n * sizeof(double));                                  \
  for (long r = 0; r < n; ++r)                                                 \
    for (long c = 0; c < n; ++c) a[r * n + c] = r + c
#define END(a)                                                                 \
  double last = n ? a[n * n - 1] + a[n * n / 2] : 0;                           \
  free(a);                                                                     \
  return last

// CHECK: diagonal: calls 0, NotBlock@[[#@LINE+2]]
CASE diagonal(long n) {
  MATRIX(a);
#pragma omp parallel for schedule(static)
  for (long k = 0; k < n; ++k) {
    for (long i = 0; i < n; ++i) a[i * n + k] *= 2;
    a[k * n + k] += 1;
  }
  END(a);
}
// An elimination step: iteration k changes all that is right of and below it.
// CHECK: triangle: calls 0, NotBlock@[[#@LINE+2]]
CASE triangle(long n) {
  MATRIX(a);
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (long k = 0; k < n; ++k) {
    sum += a[k * n + k];
    for (long i = k + 1; i < n; ++i)
      for (long j = k + 1; j < n; ++j) sum += a[i * n + j];
  }
  a[0] = sum;
  END(a);
}
// The inner loop is empty in its first turn and in the first iteration.
// CHECK: above_diagonal: calls 0, NotBlock@[[#@LINE+2]]
CASE above_diagonal(long n) {
  MATRIX(a);
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      for (long k = 0; k < j; ++k) sum += a[k * n + i];
      sum *= a[i * n + i];
    }
  a[0] = sum;
  END(a);
}
// Rows of a triangle are parts, whether they grow or shrink.
// CHECK: triangle_rows: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+2]]
CASE triangle_rows(long n) {
  MATRIX(a);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < i; ++j) a[i * n + j] *= 2;
    for (long j = i + 1; j < n; ++j) a[i * n + j] *= 3;
  }
  END(a);
}
// The user may ask for the minor use.
// CHECK: wanted: calls 1, FirstTouchInserted@[[#@LINE+3]], SerialFirstTouch@[[#@LINE+5]]
CASE wanted(long n) {
  MPG_FIRST_TOUCH double *a;
  a = malloc(n * n * sizeof(double));
  for (long r = 0; r < n; ++r)
    for (long c = 0; c < n; ++c) a[r * n + c] = r + c;
#pragma omp parallel for schedule(static)
  for (long k = 0; k < n; ++k) {
    for (long i = 0; i < n; ++i) a[i * n + k] *= 2;
    a[k * n + k] += 1;
  }
  END(a);
}

int main(int argc, char **argv) {
  long n = atol(argv[1]);
  printf("%.1f %.1f %.1f %.1f %.1f\n", diagonal(n), triangle(n), above_diagonal(n),
         triangle_rows(n), wanted(n));
}
// CHECK: end
