// Every way to get fresh memory counts, and every way to fill it: the call stands behind
// each of these allocations, for all of it.
// RUN: %remarks %s | %expect %s
// RUN: %remarks --target=aarch64-linux-gnu -mcpu=a64fx %s | %expect %s
// RUN: %remarks -O1 %s | %expect %s
// RUN: %remarks -O3 -g %s | %expect %s
// RUN: %same-args --args 600000 --args 3 --args 0 -- %c-program %s | FileCheck %s --check-prefix=SAME
// SAME: same: 60 runs
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define CASE __attribute__((noinline)) double
#define USE(a)                                                                 \
  _Pragma("omp parallel for schedule(static)")                                 \
  for (long i = 0; i < n; ++i) a[i] += 1;                                      \
  double last = n ? a[n - 1] + a[n / 2] : 0;                                   \
  free(a);                                                                     \
  return last

// CHECK: with_malloc: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE with_malloc(long n) {
  double *a = malloc(n * sizeof(double));
  for (long i = 0; i < n; ++i) a[i] = i;
  USE(a);
}
// LLVM makes no calloc of these two.
// CHECK: with_memset: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE with_memset(long n) {
  double *a = malloc(n * sizeof(double));
  memset(a, 1, n * sizeof(double));
  USE(a);
}
// Zero already, but glibc may write it when the memory is not fresh, and the loop does.
// CHECK: with_calloc: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE with_calloc(long n) {
  double *a = calloc(n, sizeof(double));
  for (long i = 0; i < n; ++i) a[i] = i;
  USE(a);
}
// CHECK: with_aligned_alloc: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE with_aligned_alloc(long n) {
  double *a = aligned_alloc(64, (n * sizeof(double) + 63) / 64 * 64);
  for (long i = 0; i < n; ++i) a[i] = i;
  USE(a);
}
// CHECK: with_posix_memalign: calls 1, FirstTouchInserted@[[#@LINE+3]], SerialFirstTouch@[[#@LINE+5]]
CASE with_posix_memalign(long n) {
  void *memory;
  if (posix_memalign(&memory, 4096, n * sizeof(double))) return -1;
  double *a = memory;
  for (long i = 0; i < n; ++i) a[i] = i;
  USE(a);
}
// The test for lack of memory stands between.
// CHECK: tested: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+4]]
CASE tested(long n) {
  double *a = malloc(n * sizeof(double));
  if (!a) return -1;
  for (long i = 0; i < n; ++i) a[i] = i;
  USE(a);
}
// Written from its end to its begin, in steps, or by rows: it is the whole all the same.
// CHECK: backwards: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE backwards(long n) {
  double *a = malloc(n * sizeof(double));
  for (long i = n - 1; i >= 0; --i) a[i] = i;
  USE(a);
}
// CHECK: in_pairs: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE in_pairs(long n) {
  double *a = malloc(2 * n * sizeof(double));
  for (long i = 0; i < n; ++i) { a[2 * i] = i; a[2 * i + 1] = 1; }
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[2 * i] += a[2 * i + 1];
  double last = n ? a[2 * n - 2] : 0;
  free(a);
  return last;
}
// Where it is malloc's, it is fresh.
// CHECK: either: calls 1, FirstTouchInserted@[[#@LINE+4]], SerialFirstTouch@[[#@LINE+8]]
CASE either(long n) {
  double *a;
  if (n % 2 == 0)
    a = malloc(n * sizeof(double));
  else
    a = mmap(0, n * sizeof(double), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (long i = 0; i < n; ++i) a[i] = i;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[i] += 1;
  double last = n ? a[n - 1] : 0;
  if (n % 2 == 0) free(a);
  return last;
}

int main(int argc, char **argv) {
  long n = atol(argv[1]);
  printf("%.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f\n", with_malloc(n), with_memset(n),
         with_calloc(n), with_aligned_alloc(n), with_posix_memalign(n), tested(n),
         backwards(n), in_pairs(n), either(n));
}
// CHECK: end
