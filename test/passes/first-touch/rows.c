// What lies behind an array of pointers is on one node, and the call for the array of pointers
// does not change that: a remark that speaks of the pointers only lets the user believe all is
// well. And it claims nothing of rows that no single thread fills.
// RUN: %remarks %s | %expect %s
#include <stdlib.h>
#define OUT __attribute__((noinline))
float sum;

#define USE(a)                                                                 \
  float s = 0;                                                                 \
  _Pragma("omp parallel for reduction(+ : s)")                                 \
  for (long i = 0; i < n; i++)                                                 \
    for (long j = 0; j < m; j++) s += a[i][j];                                 \
  sum += s

// Filled by the threads that use it; a serial loop changes it later.
// CHECK: parallel: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
OUT float **parallel(long n, long m) {
  float **a = malloc(n * sizeof *a);
  for (long i = 0; i < n; i++) a[i] = malloc(m * sizeof **a);
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++) a[i][j] = j;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++) a[i][j] += a[0][j];
  USE(a);
  return a;
}

// Each row is an allocation; filled at once, or by another loop behind that.
// CHECK-NEXT: each: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+4]], SerialRows@[[#@LINE+5]]
OUT float **each(long n, long m) {
  float **a = malloc(n * sizeof *a);
  for (long i = 0; i < n; i++) {
    a[i] = malloc(m * sizeof **a);
    for (long j = 0; j < m; j++) a[i][j] = j;
  }
  USE(a);
  return a;
}

// One block; the rows have different lengths, as those of a sparse matrix.
// CHECK-NEXT: block: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+5]], SerialRows@[[#@LINE+7]]
OUT float **block(const long *length, long n, long m, long all) {
  float **a = malloc(n * sizeof *a);
  float *block = malloc(all * sizeof *block), *at = block;
  for (long i = 0; i < n; i++) {
    a[i] = at;
    for (long j = 0; j < length[i]; j++)
      *at++ = j;
  }
  USE(a);
  return a;
}

// One number of each row.
// CHECK-NEXT: head: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
OUT float **head(long n, long m) {
  float **a = malloc(n * sizeof *a);
  for (long i = 0; i < n; i++) a[i] = malloc(m * sizeof **a);
  for (long i = 0; i < n; i++) a[i][0] = i;
  USE(a);
  return a;
}

// Small.
OUT float **small(void) {
  enum { n = 500, m = 500 };
  float **a = malloc(n * sizeof *a);
  for (long i = 0; i < n; i++) {
    a[i] = malloc(n * sizeof **a);
    for (long j = 0; j < n; j++) a[i][j] = j;
  }
  USE(a);
  return a;
}
// CHECK: end
