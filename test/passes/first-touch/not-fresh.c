// Memory that is not fresh, not the program's alone, or not from a known allocator keeps
// its place: no call, and no remark that promises one.
// RUN: %remarks %s | FileCheck %s --check-prefix=CALLS --implicit-check-not="calls 1" --implicit-check-not=Inserted
// RUN: %remarks-mode parallel-init %c-loaded %s | FileCheck %s --check-prefix=CALLS --implicit-check-not="calls 1" --implicit-check-not=Inserted --implicit-check-not=InitParallelised
// RUN: %same-args --args 600000 --args 4 -- %c-program %s | FileCheck %s --check-prefix=SAME
// SAME: same: 40 runs
// CALLS: end
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#define CASE __attribute__((noinline)) double
#define INIT(a) for (long i = 0; i < n; ++i) a[i] = i
#define USE(a)                                                                 \
  _Pragma("omp parallel for schedule(static)")                                 \
  for (long i = 0; i < n; ++i) a[i] += 1;                                      \
  double last = n ? a[n - 1] + a[n / 2] : 0

CASE reallocated(long n) {
  double *a = malloc(16);
  a = realloc(a, n * sizeof(double));
  INIT(a);
  USE(a);
  free(a);
  return last;
}
// The array grows after it was written: the pages of its first half are there.
CASE grown(long n) {
  double *a = malloc(n / 2 * sizeof(double));
  for (long i = 0; i < n / 2; ++i) a[i] = i;
  a = realloc(a, n * sizeof(double));
  for (long i = n / 2; i < n; ++i) a[i] = i;
  USE(a);
  free(a);
  return last;
}
CASE mapped(long n) {
  double *a = mmap(0, n * sizeof(double) + 1, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  INIT(a);
  USE(a);
  return last;
}
// A pool of the program's own: what it hands out was used before.
static char *pool;
static size_t taken;
__attribute__((noinline)) static void *take(size_t bytes) {
  void *memory = pool + taken;
  taken += bytes;
  return memory;
}
CASE own_pool(long n) {
  double *a = take(n * sizeof(double));
  INIT(a);
  USE(a);
  return last;
}
// Who allocated it is not known.
CASE parameter(double *a, long n) {
  INIT(a);
  USE(a);
  return last;
}

int main(int argc, char **argv) {
  long n = atol(argv[1]);
  pool = calloc(n + 1, 2 * sizeof(double));
  printf("%.1f %.1f %.1f %.1f %.1f\n", reallocated(n), grown(n), mapped(n),
         own_pool(n), parameter((double *)pool, n));
}
