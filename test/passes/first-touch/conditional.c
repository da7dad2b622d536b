// A parallel region with almost no work costs more than it gains, and one in a library
// that is called from a parallel region starts a team per thread. Both get a remark with
// the clause to write; an if clause, or enough work, silences it.
// RUN: %remarks %s | %expect %s
// RUN: %remarks -x c++ %s | %expect %s
// RUN: %remarks -DREPAIRED %s | %expect %s --check-prefix=REPAIRED
// RUN: %remarks -x c++ -DREPAIRED %s | %expect %s --check-prefix=REPAIRED
// RUN: %same %s | FileCheck %s --check-prefix=SAME
// RUN: %same -DREPAIRED %s | FileCheck %s --check-prefix=SAME
// SAME: same: 20 runs
#include <omp.h>
#include <stdio.h>

#ifdef REPAIRED
#define IF(condition) if (condition)
#else
#define IF(condition)
#endif
#define NOINLINE __attribute__((noinline))

NOINLINE void tiny(double *a, const double *b, const double *c) {
  const int n = 100;
  // CHECK: tiny: calls 0, SmallParallelRegion@[[#@LINE+1]]
#pragma omp parallel for IF(n > 8000)
  for (int i = 0; i < n; ++i) a[i] = b[i] + c[i];
}

// n is unknown, or it is large: no remark.
NOINLINE void unknown(double *a, const double *b, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] += b[i];
}
NOINLINE void large(double *a, double x) {
#pragma omp parallel for
  for (int i = 0; i < 10000000; ++i) a[i & 1023] = x;
}
// Few iterations with much work in each.
NOINLINE void heavy(double *a, const double *b, int n) {
#pragma omp parallel for
  for (int k = 0; k < 200; ++k)
    for (int i = 0; i < n; ++i) a[k] += b[i];
}

// CHECK: library: calls 0, SmallParallelRegion@[[#@LINE+2]]
NOINLINE void library(double *a, int n) {
#pragma omp parallel for IF(!omp_in_parallel())
  for (int i = 0; i < n; ++i) a[i] += i;
}
NOINLINE void caller(double (*rows)[512], int n) {
#pragma omp parallel for
  for (int r = 0; r < 256; ++r) library(rows[r], n);
}

static double a[1024], b[1024], c[1024], rows[256][512];

int main(void) {
  for (int i = 0; i < 1024; ++i) b[i] = c[i] = i;
  tiny(a, b, c);
  unknown(a, b, 1024);
  large(c, 2);
  heavy(a, b, 1024);
  caller(rows, 512);
  double sum = 0;
  for (int i = 0; i < 512; ++i) sum += a[i] + c[i] + rows[i / 2][i];
  printf("%.1f\n", sum);
}
// CHECK: end
// REPAIRED: end
