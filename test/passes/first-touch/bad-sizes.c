// Sizes that no program should ask for, loops that never run, arrays on the stack with
// a length known at run time: the program's result is the same with the call or
// without.
// RUN: %remarks %s > %t.txt
// RUN: FileCheck %s --input-file=%t.txt --implicit-check-not="vla: calls 1"
// RUN: %same-args --args 600000 --args 1 --args 0 --args -7 -- %c-program %s | FileCheck %s --check-prefix=SAME
// CHECK: end
// SAME: same: 80 runs
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CASE __attribute__((noinline)) double
#define PARALLEL _Pragma("omp parallel for schedule(static)")

// The product wraps round: malloc returns a little, and none of it is touched.
CASE wraps(long n) {
  size_t bytes = (size_t)n * ((SIZE_MAX >> 3) + 2) * 8; // n times 8, modulo 2^64
  unsigned char *a = malloc(bytes);
  if (!a) return -1;
  for (long i = 0; i < (long)(bytes >> 4); ++i) a[i] = 1;
  PARALLEL
  for (long i = 0; i < (long)(bytes >> 4); ++i) a[i] += 1;
  double last = (long)bytes > 16 ? a[0] : 0;
  free(a);
  return last;
}
// More than there is: malloc fails.
CASE too_much(long n) {
  double *a = malloc((size_t)1 << 62);
  if (!a) return -1;
  memset(a, 0, (size_t)1 << 62);
  PARALLEL
  for (long i = 0; i < ((long)1 << 59); ++i) a[i] += n;
  double last = a[n];
  free(a);
  return last;
}
// calloc notices that its product wraps round.
CASE calloc_wraps(long n) {
  double *a = calloc((size_t)1 << 61, 8 + (n > 1 ? 8 : 0));
  if (!a) return -1;
  for (long i = 0; i < n; ++i) a[i] = i;
  PARALLEL
  for (long i = 0; i < n; ++i) a[i] += 1;
  double last = a[0];
  free(a);
  return last;
}
// Below zero for n < 0: malloc fails, the loops do not run.
CASE negative(long n) {
  double *a = malloc(n * sizeof(double));
  if (!a) return -1;
  for (long i = 0; i < n; ++i) a[i] = i;
  PARALLEL
  for (long i = 0; i < n; ++i) a[i] += 1;
  double last = n > 0 ? a[n - 1] : 0;
  free(a);
  return last;
}
// 32-bit arithmetic, as in old programs.
CASE in_int(int n) {
  double *a = malloc(n * sizeof(double));
  if (!a) return -1;
  for (int i = 0; i < n; ++i) a[i] = i;
  PARALLEL
  for (int i = 0; i < n; ++i) a[i] += 1;
  double last = n > 0 ? a[n - 1] : 0;
  free(a);
  return last;
}
CASE vla(long n) {
  long m = n > 0 ? n : 1;
  double a[m];
  for (long i = 0; i < m; ++i) a[i] = i;
  PARALLEL
  for (long i = 0; i < m; ++i) a[i] += 1;
  return a[m - 1];
}

int main(int argc, char **argv) {
  long n = atol(argv[1]);
  printf("%.1f %.1f %.1f %.1f %.1f %.1f\n", wraps(n), too_much(n), calloc_wraps(n),
         negative(n), in_int(n), vla(n < 100000 ? n : 100000));
}
