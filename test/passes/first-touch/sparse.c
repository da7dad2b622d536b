// Zeros that no thread writes do not initialise: calloc of fresh memory touches no page, and the
// threads that use the array are the first. No remark, no call, and no more memory than without
// the plugin, even where the loop uses only a part of the array.
// RUN: %remarks %s | FileCheck %s --implicit-check-not="calls 1" --implicit-check-not="SerialFirstTouch" --implicit-check-not=NotBlock
// RUN: %remarks -O3 -g %s | FileCheck %s --implicit-check-not="calls 1" --implicit-check-not="SerialFirstTouch" --implicit-check-not=NotBlock
// RUN: %same-args --args 600000 --args 4 -- %c-program %s | FileCheck %s --check-prefix=SAME
// RUN: %c-loaded %c-link %s -o %t -L%build/lib -Wl,-rpath,%build/lib -lmpgrt
// RUN: env MPG_MODE=none OMP_NUM_THREADS=3 %t 33554432 memory | FileCheck %s --check-prefix=MEMORY
// CHECK: end
// SAME: same: 40 runs
// MEMORY: little memory
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#define CASE __attribute__((noinline)) double
#define PARALLEL _Pragma("omp parallel for schedule(static)")

// One of so many elements is used.
CASE wanted(long n, const char *is_wanted) {
  double *a = calloc(n, sizeof *a);
  PARALLEL
  for (long i = 0; i < n; ++i)
    if (is_wanted[i >> 10]) a[i] += 1;
  double last = a[n / 2];
  free(a);
  return last;
}
// LLVM makes this a calloc.
CASE zeroed(long n, const char *is_wanted) {
  double *a = malloc(n * sizeof *a);
  memset(a, 0, n * sizeof *a);
  PARALLEL
  for (long i = 0; i < n; ++i)
    if (is_wanted[i >> 10]) a[i] += 1;
  double last = a[n / 2];
  free(a);
  return last;
}
CASE strided(long n) {
  double *a = calloc(n, sizeof *a);
  PARALLEL
  for (long i = 0; i < n; i += 262144) a[i] += 1;
  double last = a[n / 2];
  free(a);
  return last;
}
CASE jumping(long n) {
  double *a = calloc(n, sizeof *a);
  PARALLEL
  for (long i = 0; i < n; ++i) {
    if (i % 262144) continue;
    a[i] += 1;
  }
  double last = a[n / 2];
  free(a);
  return last;
}
CASE summed(long n) {
  double *a = calloc(n, sizeof *a), sum = 0;
#pragma omp parallel for schedule(dynamic, 1000) reduction(+ : sum)
  for (long i = 0; i < n; i += 4096) sum += a[i];
  free(a);
  return sum;
}

int main(int argc, char **argv) {
  long n = atol(argv[1]);
  char *is_wanted = calloc(n / 1024 + 1, 1);
  is_wanted[n / 2048] = 1;
  double sum = wanted(n, is_wanted) + zeroed(n, is_wanted) + strided(n) + jumping(n) + summed(n);
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  if (argc == 2)
    printf("%.1f\n", sum);
  else // each array has 256 MiB
    puts(used.ru_maxrss < 100 << 10 ? "little memory" : "much memory");
}
