// Dense matrix times vector with the inner loop parallel: a thread's part of a row is
// shorter than a page, so no placement helps, and the initialisation being parallel does
// not either. The matrix gets that remark and no call, until the rows are shared out.
// RUN: %remarks %s | %expect %s
// RUN: %remarks -x c++ %s | %expect %s
// RUN: %remarks -DINIT=1 %s | %expect %s
// RUN: %remarks -DROWS -DINIT=2 %s | %expect %s --check-prefix=REPAIRED
// RUN: %same %s | FileCheck %s --check-prefix=SAME
// RUN: %same -DINIT=1 %s | FileCheck %s --check-prefix=SAME
// RUN: %same -DROWS -DINIT=2 %s | FileCheck %s --check-prefix=SAME
// SAME: same: 20 runs
#include <stdio.h>
#include <stdlib.h>

#define PARALLEL _Pragma("omp parallel for schedule(static)")
#ifndef INIT
#define INIT 0
#endif
#if INIT == 0
#define INIT_ROWS
#define INIT_COLUMNS
#elif INIT == 1
#define INIT_ROWS
#define INIT_COLUMNS PARALLEL
#else
#define INIT_ROWS PARALLEL
#define INIT_COLUMNS
#endif

#ifdef ROWS
__attribute__((noinline)) static void dmvm(int n, int m, double *lhs, double *rhs,
                                           double *mat) {
  PARALLEL
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < m; ++c) lhs[r] += mat[c + m * r] * rhs[c];
}
#else
__attribute__((noinline)) static void dmvm(int n, int m, double *lhs, double *rhs,
                                           double *mat) {
  for (int r = 0; r < n; ++r) {
    int offset = m * r;
    PARALLEL
    for (int c = 0; c < m; ++c) lhs[c] += mat[c + offset] * rhs[r];
  }
}
#endif

int main(void) {
  const int n = 500, m = 20000; // both vectors have room for either
  double *mat = (double *)malloc(sizeof(double) * n * m);
  double *lhs = (double *)malloc(sizeof(double) * m);
  double *rhs = (double *)malloc(sizeof(double) * m);
  for (int c = 0; c < m; ++c) lhs[c] = 0;
  for (int c = 0; c < m; ++c) rhs[c] = c % 3;
  INIT_ROWS
  for (int r = 0; r < n; ++r) {
    INIT_COLUMNS
    for (int c = 0; c < m; ++c) mat[c + m * r] = r % 7 + c % 5;
  }
  dmvm(n, m, lhs, rhs, mat);
  double sum = 0;
  for (int c = 0; c < m; ++c) sum += lhs[c] * (c % 11);
  printf("%.1f\n", sum);
  free(mat);
  free(lhs);
  free(rhs);
}
// CHECK: {{.*}}: calls 0, PlacementTooFine@{{[0-9]+}}
// CHECK-NEXT: end
// REPAIRED: end
