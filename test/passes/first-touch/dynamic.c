// With schedule(dynamic) no thread has a fixed part, so nothing can be placed for it. The
// remark reports it; also for guided and auto, and for runtime, which is unknown at compile
// time.
// RUN: %remarks %s | %expect %s
// RUN: %remarks -x c++ %s | %expect %s
// RUN: %remarks -DKIND=guided %s | %expect %s
// RUN: %remarks -DKIND=runtime %s | %expect %s
// RUN: %remarks -DKIND=static -DREPAIRED %s | %expect %s --check-prefix=REPAIRED
// RUN: %same %s | FileCheck %s --check-prefix=SAME
// RUN: %same -DKIND=static -DREPAIRED %s | FileCheck %s --check-prefix=SAME
// SAME: same: 20 runs
#include <stdio.h>
#include <stdlib.h>
#ifndef KIND
#define KIND dynamic
#endif

__attribute__((noinline)) static double *fill(long n) {
  double *a = (double *)malloc(n * sizeof(double));
#ifdef REPAIRED
#pragma omp parallel for schedule(static)
#endif
  for (long i = 0; i < n; ++i) a[i] = i;
  return a;
}

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 100000;
  double *a = fill(n);
#pragma omp parallel for schedule(KIND)
  for (long i = 0; i < n; ++i) a[i] = 2 * a[i] + 1;
  double sum = 0;
  for (long i = 0; i < n; ++i) sum += a[i];
  printf("%.1f\n", sum);
  free(a);
}
// CHECK: {{.*}}: calls 0, NonStaticSchedule@{{[0-9]+}}
// CHECK-NEXT: end
// REPAIRED: end
