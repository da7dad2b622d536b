// A worksharing loop with one iteration is one thread's work: if it fails, pages are placed for
// it instead of for the loop that all threads share, or a remark calls it that.
// RUN: %remarks %s | %expect %s
#include <stdlib.h>
#define USE(a)                                                                 \
  _Pragma("omp parallel for schedule(static)")                                 \
  for (long i = 0; i < n; ++i) a[i] += 1

// A loop over threads, of which there is one. It is run more often than the other.
// CHECK: by_threads: calls 1, FirstTouchInserted@[[#@LINE+3]], SerialFirstTouch@[[#@LINE+4]], CoarseLoop@[[#@LINE+6]]
double *by_threads(long n) {
  const int threads = 1;
  double *a = malloc(n * sizeof(double));
  for (long i = 0; i < n; ++i) a[i] = i;
  for (int round = 0; round < 100; ++round) {
#pragma omp parallel for schedule(static)
    for (int t = 0; t < threads; ++t)
      for (long i = 0; i < n; ++i) a[t * n + i] *= 2;
  }
  USE(a);
  return a;
}

// Nothing else uses it: nothing to say, whatever the schedule.
double *alone(long n, int threads) {
  threads = 1;
  double *a = malloc(n * sizeof(double));
  for (long i = 0; i < n; ++i) a[i] = i;
#pragma omp parallel for schedule(dynamic)
  for (int t = 0; t < threads; ++t)
    for (long i = 0; i < n; ++i) a[t * n + i] *= 2;
#pragma omp parallel for schedule(static)
  for (int t = 0; t < threads; ++t)
    for (long i = 0; i < n; ++i) a[t * n + i] *= 3;
  return a;
}

// CHECK-NEXT: two_halves: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]], CoarseLoop@[[#@LINE+4]]
double *two_halves(long n) {
  double *a = malloc(2 * n * sizeof(double));
  for (long i = 0; i < 2 * n; ++i) a[i] = i;
#pragma omp parallel for schedule(static)
  for (int t = 0; t < 2; ++t)
    for (long i = 0; i < n; ++i) a[t * n + i] *= 2;
  return a;
}
// CHECK-NEXT: end
