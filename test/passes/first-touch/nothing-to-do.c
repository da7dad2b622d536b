// Nothing is wrong here, or nothing would be gained: small arrays, arrays that threads
// write first, arrays without parallel use, vectors that all threads read. No remark,
// no call.
// RUN: %remarks %s | %expect %s
// RUN: %remarks-mode parallel-init %c-loaded %s | %expect %s
// RUN: %same-args --args 600000 --args 4 --args 0 -- %c-program %s | FileCheck %s --check-prefix=SAME
// CHECK: end
// SAME: same: 60 runs
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CASE __attribute__((noinline)) double
#define INIT(a) for (long i = 0; i < n; ++i) a[i] = i
#define PARALLEL _Pragma("omp parallel for schedule(static)")
#define END(a)                                                                 \
  double last = n ? a[n - 1] + a[n / 2] : 0;                                   \
  free(a);                                                                     \
  return last

// One element less than 4 MiB.
CASE just_too_small(void) {
  const long n = (4 << 20) / sizeof(double) - 1;
  double *a = malloc(n * sizeof(double));
  INIT(a);
  PARALLEL
  for (long i = 0; i < n; ++i) a[i] += 1;
  END(a);
}
CASE on_the_stack(void) {
  const long n = 100000;
  double a[n], last = 0;
  INIT(a);
  PARALLEL
  for (long i = 0; i < n; ++i) a[i] += 1;
  for (long i = 0; i < n; ++i) last += a[i];
  return last;
}
CASE threads_first(long n) {
  double *a = malloc(n * sizeof(double));
  PARALLEL
  for (long i = 0; i < n; ++i) a[i] = i;
  PARALLEL
  for (long i = 0; i < n; ++i) a[i] += 1;
  END(a);
}
CASE one_thread(long n) {
  double *a = malloc(n * sizeof(double));
  INIT(a);
  for (long i = 0; i < n; ++i) a[i] *= 2;
  END(a);
}
// Parallel first, serial later: the pages are where the threads are.
CASE serial_later(long n) {
  double *a = malloc(n * sizeof(double));
  PARALLEL
  for (long i = 0; i < n; ++i) a[i] = 0;
  INIT(a);
  PARALLEL
  for (long i = 0; i < n; ++i) a[i] += 1;
  END(a);
}
// Each thread has its own.
CASE in_the_region(long n) {
  double last = 0;
#pragma omp parallel reduction(+ : last)
  {
    double *a = malloc(n * sizeof(double));
    INIT(a);
#pragma omp for schedule(static)
    for (long i = 0; i < n; ++i) a[i] += 1;
    if (n && omp_get_thread_num() == 0) last = a[0];
    free(a);
  }
  return last;
}
CASE small_vector(long n) {
  double *a = malloc(n * sizeof(double)), *x = malloc(8 * sizeof(double));
  for (long i = 0; i < 8; ++i) x[i] = i;
  PARALLEL
  for (long i = 0; i < n; ++i) {
    a[i] = 0;
    for (long k = 0; k < 8; ++k) a[i] += x[k] * i;
  }
  free(x);
  END(a);
}

int main(int argc, char **argv) {
  long n = atol(argv[1]);
  printf("%.1f %.1f %.1f %.1f %.1f %.1f %.1f\n", just_too_small(), on_the_stack(),
         threads_first(n), one_thread(n), serial_later(n),
         in_the_region(n), small_vector(n));
}
