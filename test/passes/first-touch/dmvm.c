// Dense matrix times vector, divided by rows: the matrix and lhs, both filled by one thread
// in another function, are reported and placed by rows. All threads read rhs, which is
// small beside the matrix: no remark, no call.
// RUN: %remarks %s | %expect %s
// RUN: %remarks -x c++ %s | %expect %s
// RUN: %remarks -DREPAIRED %s | %expect %s --check-prefix=REPAIRED
// RUN: %remarks -x c++ -DREPAIRED %s | %expect %s --check-prefix=REPAIRED
// RUN: %same-args --args "2000 1000" --args "1 1" --args "0 5" -- %c-program %s | FileCheck %s --check-prefix=SAME
// RUN: %same-args --args "2000 1000" -- %c-program -DREPAIRED %s | FileCheck %s --check-prefix=SAME
// SAME: same:
#include <stdio.h>
#include <stdlib.h>

#ifdef REPAIRED
#define PARALLEL _Pragma("omp parallel for schedule(static)")
#else
#define PARALLEL
#endif

__attribute__((noinline)) static void dmvm(int n, int m, double *lhs, double *rhs,
                                           double *mat) {
  int r, c, offset;
#pragma omp parallel for private(offset, c) schedule(static)
  for (r = 0; r < n; ++r) {
    offset = m * r;
    for (c = 0; c < m; ++c)
      lhs[r] += mat[c + offset] * rhs[c];
  }
}

int main(int argc, char **argv) {
  int n = atoi(argv[1]), m = atoi(argv[2]);
  double *mat = (double *)malloc((size_t)n * m * sizeof(double));
  double *lhs = (double *)malloc(n * sizeof(double));
  double *rhs = (double *)malloc(m * sizeof(double));
  // CHECK: main: calls 2, FirstTouchInserted@[[#@LINE-3]], FirstTouchInserted@[[#@LINE-2]], SerialFirstTouch@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+5]]
  PARALLEL
  for (int r = 0; r < n; ++r) lhs[r] = 1;
  PARALLEL
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < m; ++c) mat[c + (size_t)m * r] = r % 7 + c % 5;
  for (int c = 0; c < m; ++c) rhs[c] = c % 3;
  for (int iter = 0; iter < 3; ++iter)
    dmvm(n, m, lhs, rhs, mat);
  double sum = 0;
  for (int r = 0; r < n; ++r) sum += lhs[r] * (r % 11);
  printf("%.1f\n", sum);
  free(mat);
  free(lhs);
  free(rhs);
}
// CHECK: end
// REPAIRED: end
