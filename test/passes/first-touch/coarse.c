// A parallel loop with hardly more iterations than threads leaves threads idle: the remark
// advises collapse. With collapse(2), or with enough rows, there is no remark.
// RUN: %remarks %s | %expect %s
// RUN: %remarks -x c++ %s | %expect %s
// RUN: %remarks -DREPAIRED %s | %expect %s --check-prefix=REPAIRED
// RUN: %remarks -x c++ -DREPAIRED %s | %expect %s --check-prefix=REPAIRED
// RUN: %same %s | FileCheck %s --check-prefix=SAME
// RUN: %same -DREPAIRED %s | FileCheck %s --check-prefix=SAME
// SAME: same: 20 runs
#include <stdio.h>
#include <stdlib.h>

#ifdef REPAIRED
#define COLLAPSE collapse(2)
#else
#define COLLAPSE
#endif
#define NOINLINE __attribute__((noinline))
#define N 20000

// 20 rows for 8 threads: some have three, some two.
// CHECK: coarse: calls 0, CoarseLoop@[[#@LINE+3]]
NOINLINE double coarse(double (*a)[N]) {
  double res = 0;
#pragma omp parallel for num_threads(8) schedule(static) reduction(+ : res) COLLAPSE
  for (int l = 0; l < 20; ++l)
    for (int k = 0; k < N; ++k) res += a[l][k];
  return res;
}
// Whatever the number of threads is, 7 rows are too few for most machines.
// CHECK: few: calls 0, CoarseLoop@[[#@LINE+3]]
NOINLINE double few(double (*a)[N]) {
  double res = 0;
#pragma omp parallel for schedule(static) reduction(+ : res) COLLAPSE
  for (int l = 0; l < 7; ++l)
    for (int k = 0; k < N; ++k) res += a[l][k];
  return res;
}
// 4 per thread; or a number that is known when it runs.
NOINLINE double enough(double (*a)[N]) {
  double res = 0;
#pragma omp parallel for num_threads(8) schedule(static) reduction(+ : res)
  for (int l = 0; l < 32; ++l)
    for (int k = 0; k < N; ++k) res += a[l][k];
  return res;
}
NOINLINE double unknown(double (*a)[N], int rows) {
  double res = 0;
#pragma omp parallel for schedule(static) reduction(+ : res)
  for (int l = 0; l < rows; ++l)
    for (int k = 0; k < N; ++k) res += a[l][k];
  return res;
}

int main(void) {
  double (*a)[N] = (double (*)[N])malloc(32 * sizeof(*a));
#pragma omp parallel for num_threads(8) schedule(static)
  for (int l = 0; l < 32; ++l)
    for (int k = 0; k < N; ++k) a[l][k] = l + k;
  printf("%.1f %.1f %.1f %.1f\n", coarse(a), few(a), enough(a), unknown(a, 30));
  free(a);
}
// CHECK: end
// REPAIRED: end
