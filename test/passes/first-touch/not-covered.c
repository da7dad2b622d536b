// A serial loop that does not write the whole array does not initialise it: touching
// would take memory that the program never uses, or place memory for the wrong writer.
// No call.
// RUN: %remarks %s | FileCheck %s --implicit-check-not="calls 1" --implicit-check-not=Inserted
// RUN: %same-args --args "600000 100" --args "4 2" -- %c-program %s | FileCheck %s --check-prefix=SAME
// CHECK: end
// SAME: same: 40 runs
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CASE __attribute__((noinline)) double
#define USE(a)                                                                 \
  _Pragma("omp parallel for schedule(static)")                                 \
  for (long i = 0; i < m; ++i) a[i] += 1;                                      \
  double last = m ? a[m - 1] + a[m / 2] : 0;                                   \
  free(a);                                                                     \
  return last

// m of n elements: whether that is all is unknown.
CASE first_part(long n, long m) {
  double *a = malloc(n * sizeof(double));
  for (long i = 0; i < m; ++i) a[i] = i;
  USE(a);
}
// Called for all of it here, but other files may call it for less.
CASE by_callers(long n, long m) {
  double *a = malloc(n * sizeof(double));
  for (long i = 0; i < m; ++i) a[i] = i;
  USE(a);
}
// Lengths that are differences, and not the same.
CASE other_length(int low, int high, int m) {
  double *a = malloc((high - low) * sizeof(double));
  for (int i = 0; i < high - m; ++i) a[i] = i;
  USE(a);
}
CASE other_zeros(int low, int high, int m) {
  double *a = malloc((high - low) * sizeof(double));
  memset(a, 0, (high - m) * sizeof(double));
  USE(a);
}
// Known to be a quarter.
CASE a_quarter(long n) {
  double *a = malloc(n * sizeof(double));
  long m = n / 4;
  for (long i = 0; i < m; ++i) a[i] = i;
  USE(a);
}
// 16 GiB of addresses, of which a few pages are ever written.
CASE sparse(long n, long m) {
  double *a = malloc((size_t)16 << 30);
  if (!a) return -1;
  for (long i = 0; i < m; ++i) a[i * 4096] = i;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < m; ++i) a[i * 4096] += 1;
  double last = m ? a[(m - 1) * 4096] : 0;
  free(a);
  return last;
}
// Elements that an index array names; and elements that fulfil a condition.
CASE scattered(long n, const int *index, long m) {
  double *a = malloc(n * sizeof(double));
  for (long i = 0; i < m; ++i) a[index[i]] = i;
  double last = a[index[m - 1]];
#pragma omp parallel for schedule(static)
  for (long i = 0; i < m; ++i) a[index[i]] += 1;
  free(a);
  return last;
}
CASE some(long n, const int *index, long m) {
  double *a = calloc(n, sizeof(double));
  for (long i = 0; i < n; ++i) if (index[i % m] > 3) a[i] = i;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) if (index[i % m] > 3) a[i] += 1;
  double last = a[n - 1];
  free(a);
  return last;
}
// Each hundred thousandth.
CASE remainders(long n, long m) {
  double *a = malloc(n * sizeof(double));
  for (long i = 0; i < n; ++i) if (i % 100000 == 0) a[i] = m;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) if (i % 100000 == 0) a[i] += 1;
  double last = n ? a[0] : 0;
  free(a);
  return last;
}
// The loop ends early.
CASE until(long n, const int *index, long m) {
  double *a = calloc(n, sizeof(double));
  for (long i = 0; i < n; ++i) {
    if (index[i % m] > 3) break;
    a[i] = i;
  }
  USE(a);
}
// Every other element, in the half of the array only.
CASE every_other(long n, long m) {
  double *a = malloc(n * sizeof(double));
  for (long i = 0; 4 * i < n; ++i) a[2 * i] = i;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n / 4; ++i) a[2 * i] += 1;
  double last = n > 8 ? a[(n / 4 - 1) * 2] : 0;
  free(a);
  return last;
}

int main(int argc, char **argv) {
  long n = atol(argv[1]), m = atol(argv[2]);
  int *index = malloc(m * sizeof(int));
#pragma omp parallel for schedule(static)
  for (long i = 0; i < m; ++i) index[i] = i;
  printf("%.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f\n", first_part(n, m), by_callers(n, n), a_quarter(n),
         sparse(n, m), scattered(n, index, m), some(n, index, m), until(n, index, m),
         every_other(n, m));
  printf("%.1f %.1f %.1f\n", other_length(0, n, n - m), other_zeros(0, n, n - m),
         remainders(n, m));
}
