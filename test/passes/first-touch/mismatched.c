// Two loops that divide the same array differently cannot both be near their data: one
// remark at one of them, with the change that helps there. Loops of the same number of
// iterations and schedule, and loops in which the array is not divided, get none.
// RUN: %remarks %s > %t.txt
// RUN: FileCheck %s --input-file=%t.txt
// RUN: FileCheck %s --input-file=%t.txt --check-prefix=SAME-MAPPING
// RUN: %same-args --args 600000 --args 4 -- %c-program %s | FileCheck %s --check-prefix=SAME
// RUN: %compile -O2 -c %s -o %t.o -Rpass-missed=mpg 2>&1 | FileCheck %s --check-prefix=FIX
// SAME-MAPPING-NOT: {{^same.*}}Mismatched
// SAME: same: 40 runs
#include <stdio.h>
#include <stdlib.h>
#define CASE __attribute__((noinline)) double
#define INIT(a) for (long i = 0; i < n; ++i) a[i] = i
#define END(a)                                                                 \
  double last = n ? a[n - 1] + a[n / 2] : 0;                                   \
  free(a);                                                                     \
  return last

// CHECK: block_and_chunk: {{.*}}MismatchedSchedules@
CASE block_and_chunk(long n) {
  double *a = malloc(n * sizeof(double));
  INIT(a);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[i] += 1;
// FIX-DAG: otherwise than {{.*}} fix: give both the same schedule(static) and length [
#pragma omp parallel for schedule(static, 16384)
  for (long i = 0; i < n; ++i) a[i] *= 2;
  END(a);
}
// Initialised in parallel, but otherwise than used.
// CHECK: parallel_otherwise: calls 0, {{.*}}MismatchedSchedules@
CASE parallel_otherwise(long n) {
  double *a = malloc(n * sizeof(double));
#pragma omp parallel for schedule(static, 16384)
  for (long i = 0; i < n; ++i) a[i] = i;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[i] += 1;
  END(a);
}
// Rows in one loop, columns in the other.
// CHECK: transposed: {{.*}}MismatchedSchedules@
CASE transposed(long m) {
  long n = m * m;
  double *a = malloc(n * sizeof(double));
  INIT(a);
#pragma omp parallel for schedule(static)
  for (long r = 0; r < m; ++r)
    for (long c = 0; c < m; ++c) a[r * m + c] += 1;
// FIX-DAG: :[[#@LINE+1]]:1: {{.*}} otherwise than {{.*}} fix: let both loops share out the same dimension of it [
#pragma omp parallel for schedule(static)
  for (long c = 0; c < m; ++c)
    for (long r = 0; r < m; ++r) a[r * m + c] *= 2;
  END(a);
}
// Upwards in one loop, downwards in the other.
// CHECK: turned: {{.*}}MismatchedSchedules@
CASE turned(long n) {
  double *a = malloc(n * sizeof(double));
  INIT(a);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[i] += 1;
// FIX-DAG: :[[#@LINE+1]]:1: {{.*}} otherwise than {{.*}} fix: let both loops go through it in the same direction [
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[n - 1 - i] *= 2;
  END(a);
}
CASE same_twice(long n) {
  double *a = malloc(n * sizeof(double));
  INIT(a);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[i] += 1;
#pragma omp parallel for
  for (long i = 0; i < n; ++i) a[i] *= 2;
  END(a);
}
CASE same_rows(long m) {
  long n = m * m;
  double *a = malloc(n * sizeof(double));
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[i] = i;
#pragma omp parallel for schedule(static)
  for (long r = 0; r < m; ++r)
    for (long c = 0; c < m; ++c) a[r * m + c] += 1;
  END(a);
}
CASE same_others(long n) {
  double *a = malloc(n * sizeof(double)), *b = malloc(n * sizeof(double));
#pragma omp parallel for schedule(static, 1024)
  for (long i = 0; i < n; ++i) b[i] = i;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[i] = i;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[i] += 1;
  a[0] += n ? b[n - 1] : 0;
  free(b);
  END(a);
}

int main(int argc, char **argv) {
  long n = atol(argv[1]), m = n > 1000 ? 1000 : n;
  printf("%.1f %.1f %.1f %.1f %.1f %.1f %.1f\n", block_and_chunk(n),
         parallel_otherwise(n), transposed(m), turned(n), same_twice(n), same_rows(m), same_others(n));
}
