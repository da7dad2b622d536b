// Memory behind an array of pointers is on one node, and the call for the array of pointers
// does not change that. A remark about the pointers alone would make the user believe all is
// well. And there is no remark about rows that no single thread fills.
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

// Rows in one array; numbers in memory give their bounds and the array's length, as in a
// sparse matrix. SerialRows at the array that one thread writes; no remark where a team
// writes, or may do so in another file.
#define SUM(value, column, x)                                                  \
  float s = 0;                                                                 \
  _Pragma("omp parallel for reduction(+ : s)")                                 \
  for (long i = 0; i < n; i++)                                                 \
    for (long k = start[i]; k < start[i + 1]; k++)                             \
      s += value[k] * x[column[k]];                                            \
  sum += s
// CHECK-NEXT: sparse: calls 0, SerialRows@[[#@LINE+6]], SerialRows@[[#@LINE+8]]
OUT void sparse(long n, const long *start, const float *x) {
  int *column = malloc(start[n] * sizeof *column);
  float *value = calloc(start[n], sizeof *value);
  long at = 0;
  for (long i = 0; i < n; i++) {
    column[at] = i;
    if (x[i] > 0)
      value[at++] = 2;
    at++;
  }
  SUM(value, column, x);
}
// All of it, by another loop.
// CHECK-NEXT: filled: calls 0, SerialRows@[[#@LINE+4]]
OUT void filled(long n, long all, const long *start, const int *column, const float *x) {
  float *value = malloc(all * sizeof *value);
  for (long k = 0; k < all; k++)
    value[k] = k;
  SUM(value, column, x);
}
// Each iteration has many rows: they are not what all threads read.
// CHECK-NEXT: rows: calls 0, SerialRows@[[#@LINE+5]]
OUT void rows(long n, long parts, const long *start, float *y) {
  float *value = malloc(start[n] * sizeof *value);
  for (long i = 0; i < n; i++)
    if (y[i] > 0)
      value[start[i]] = i;
#pragma omp parallel for
  for (long p = 0; p < parts; p++) {
    long at = start[p * (n / parts)];
    for (long i = p * (n / parts); i < (p + 1) * (n / parts); i++)
      for (long k = start[i]; k < start[i + 1]; k++)
        y[at++] = value[k];
  }
}
// The zeros of calloc touch no page: the team does.
OUT void zeros(long n, const long *start, const int *column, const float *x) {
  float *value = calloc(start[n], sizeof *value);
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    for (long k = start[i]; k < start[i + 1]; k++) value[k] += x[column[k]];
  SUM(value, column, x);
}
OUT void by_team(long n, const long *start, const int *column, const float *x) {
  float *value = malloc(start[n] * sizeof *value);
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    for (long k = start[i]; k < start[i + 1]; k++) value[k] = k;
  for (long i = 0; i < n; i++) value[start[i]] = 0;
  SUM(value, column, x);
}
int omp_get_thread_num(void);
OUT void by_hand(long n, const long *start, const long *part, const int *column, const float *x) {
  float *value = malloc(start[n] * sizeof *value);
#pragma omp parallel
  {
    int self = omp_get_thread_num();
    for (long k = part[self]; k < part[self + 1]; k++) value[k] = k;
  }
  for (long i = 0; i < n; i++) value[start[i]] = 0;
  SUM(value, column, x);
}
void other_file(float *value, long n);
OUT void elsewhere(long n, const long *start, const int *column, const float *x) {
  float *value = malloc(start[n] * sizeof *value);
  other_file(value, n);
  for (long i = 0; i < n; i++) value[start[i]] = 0;
  SUM(value, column, x);
}
OUT void used(long n, const long *start, const int *column, const float *x) {
  float *value = malloc(start[n] * sizeof *value);
  for (long i = 0; i < n; i++) value[start[i]] = 0;
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    for (long k = start[i]; k < start[i + 1]; k++) value[k] += x[column[k]];
  SUM(value, column, x);
}
// CHECK: end
