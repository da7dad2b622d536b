// What all threads read has no right place: told when it is large, with the advice to copy
// it. A vector beside a matrix is not large, nor are tables of a few elements.
// RUN: %remarks %s > %t.txt
// RUN: FileCheck %s --input-file=%t.txt --implicit-check-not=SharedRead
// RUN: %same-args --args 600000 --args 4 -- %c-program %s | FileCheck %s --check-prefix=SAME
// SAME: same: 40 runs
#include <stdio.h>
#include <stdlib.h>
#define CASE __attribute__((noinline)) double

// CHECK: by_index: calls 0, {{.*}}SharedRead@
CASE by_index(long n, const int *index) {
  double *table = malloc(n * sizeof(double));
  for (long i = 0; i < n; ++i) table[i] = i;
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (long i = 0; i < n; ++i) sum += table[index[i]];
  free(table);
  return sum;
}
// Every thread reads all of it, and it is as large as what they share out.
// CHECK: whole: calls 0, {{.*}}SharedRead@
CASE whole(long n, const int *index) {
  double *x = malloc(n * sizeof(double)), *y = malloc(n * sizeof(double));
  for (long i = 0; i < n; ++i) x[i] = i;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) {
    y[i] = 0;
    for (long k = 0; k < n; k += n / 4) y[i] += x[k];
  }
  double last = y[n - 1];
  free(x);
  free(y);
  return last;
}
// 2 KiB, whatever n is.
CASE few_elements(long n, const int *index) {
  double *table = malloc(256 * sizeof(double)), sum = 0;
  for (long i = 0; i < 256; ++i) table[i] = i;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (long i = 0; i < n; ++i) sum += table[index[i] & 255];
  free(table);
  return sum;
}
// Read by index by one thread only.
CASE serially(long n, const int *index) {
  double *table = malloc(n * sizeof(double)), sum = 0;
  for (long i = 0; i < n; ++i) table[i] = i;
  for (long i = 0; i < n; ++i) sum += table[index[i]];
  free(table);
  return sum;
}

int main(int argc, char **argv) {
  long n = atol(argv[1]);
  int *index = malloc(n * sizeof(int));
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) index[i] = i * 7 % n;
  printf("%.1f %.1f %.1f %.1f\n", by_index(n, index), whole(n, index),
         few_elements(n, index), serially(n, index));
  free(index);
}
// CHECK: end
