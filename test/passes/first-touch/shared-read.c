// An array that all threads read has no right place: a remark if it is large, with the
// advice to copy it. A vector beside a matrix is not large, nor are tables of a few
// elements.
// RUN: %remarks %s > %t.txt
// RUN: FileCheck %s --input-file=%t.txt --implicit-check-not=SharedRead
// RUN: %same-args --args 600000 --args 4 -- %c-program %s | FileCheck %s --check-prefix=SAME
// RUN: %compile -O2 -c %s -o %t.o -Rpass-missed=mpg 2>&1 | FileCheck %s --check-prefix=STALE --implicit-check-not=stale
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
// Other code changes it after the loop, which copies would not see.
// CHECK: changed_later: calls 0, {{.*}}SharedRead@
CASE changed_later(long n, const int *index) {
  double *table = malloc(n * sizeof(double));
  for (long i = 0; i < n; ++i) table[i] = i;
  double sum = 0;
  for (int step = 0; step < 2; ++step) {
// STALE: :[[#@LINE+3]]:{{.*}} fix: spread the pages with mpg_interleave (copies would be stale: other code may write to it later)
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long i = 0; i < n; ++i)
      sum += table[index[i]];
    for (long i = 0; i < n; ++i) table[i] /= 2;
  }
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
// An element has three numbers: no row of the iteration's own.
// CHECK: triples: calls 0, {{.*}}SharedRead@
CASE triples(long n, const int *index) {
  double *table = malloc(3 * n * sizeof(double)), sum = 0;
  for (long i = 0; i < 3 * n; ++i) table[i] = i;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (long i = 0; i < n; ++i)
    for (long k = 0; k < 3; ++k) sum += table[3 * index[i] + k];
  free(table);
  return sum;
}
// One thread writes a part of each row, of a length known only at run time; a
// function that receives the row reads it.
CASE look_up(const double *table, long row, long column) {
  return table[row * 16 + column % 7];
}
// CHECK: look_up: calls 0, SharedRead@[[#@LINE-2]]
CASE in_part(long n, const int *index) {
  double *table = malloc(16 * n * sizeof(double)), sum = 0;
  for (long i = 0; i < n; ++i)
    for (long k = 0; k < index[i] % 16 + 7; ++k) table[i * 16 + k % 16] = i + k;
#pragma omp parallel for schedule(dynamic, 100) reduction(+ : sum)
  for (long i = 0; i < n; ++i) sum += look_up(table, index[i], index[i]);
  free(table);
  return sum;
}
// The same where a team fills it, although the other allocation is the serial loop's.
struct Tables {
  double *one;
};
// CHECK: branches: calls 0, SharedRead@[[#@LINE+14]]
__attribute__((noinline)) double branches(long n, const int *index, int isSerial) {
  struct Tables tables;
  if (isSerial) {
    tables.one = malloc(n * sizeof(double));
    for (long i = 0; i < n; ++i) if (index[i] >= 0) tables.one[i] = i;
  } else {
    tables.one = malloc(2 * n * sizeof(double));
#pragma omp parallel for schedule(static)
    for (long i = 0; i < 2 * n; ++i) tables.one[i] = i;
  }
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (long i = 0; i < n; ++i)
    sum += tables.one[index[i]];
  free(tables.one);
  return sum;
}

int main(int argc, char **argv) {
  long n = atol(argv[1]);
  int *index = malloc(n * sizeof(int));
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) index[i] = i * 7 % n;
  printf("%.1f %.1f %.1f %.1f\n", by_index(n, index) + changed_later(n, index), whole(n, index),
         few_elements(n, index), serially(n, index));
  printf("%.1f %.1f %.1f %.1f\n", triples(n, index), in_part(n, index),
         branches(n, index, 1), branches(n, index, 0));
  free(index);
}
// CHECK: end
