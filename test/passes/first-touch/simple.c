// The simplest case: written by one thread, used by all. The compiler reports it at the
// line of the mistake and places the array. There is no remark if the initialisation is
// parallel, nor about b, which the threads write first.
// RUN: %remarks %s | %expect %s
// RUN: %remarks --target=aarch64-linux-gnu -mcpu=a64fx %s | %expect %s
// RUN: %remarks -x c++ %s | %expect %s
// RUN: %remarks -DREPAIRED %s | %expect %s --check-prefix=REPAIRED
// RUN: %remarks -x c++ -DREPAIRED %s | %expect %s --check-prefix=REPAIRED
// RUN: %same %s | FileCheck %s --check-prefix=SAME
// RUN: %same -DREPAIRED %s | FileCheck %s --check-prefix=SAME
// SAME: same: 20 runs
#include <stdio.h>
#include <stdlib.h>

static double function(double x) { return 3 * x + 1; }

int main(void) {
  // CHECK: main: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+7]]
  const int n = 3000000;
  double *a = (double *)malloc(n * sizeof(double));
  double *b = (double *)malloc(n * sizeof(double));
#ifdef REPAIRED
#pragma omp parallel for schedule(static)
#endif
  for (int i = 0; i < n; ++i) a[i] = i;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i)
    b[i] = function(a[i]);
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += b[i];
  printf("%.1f\n", sum);
  free(a);
  free(b);
}
// CHECK: end
// REPAIRED: end
