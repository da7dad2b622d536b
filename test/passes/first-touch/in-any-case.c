// The call takes memory at once, so it goes where the program is certain to write the whole
// array: behind all decisions about it, and nowhere if there is no such place.
// RUN: %remarks %s | %expect %s
// RUN: %remarks -O1 %s | %expect %s
// RUN: %same-args --args "600000 1" --args "600000 0" --args "3 1" -- %c-program %s | FileCheck %s --check-prefix=SAME
// RUN: %c-loaded %c-link %s -o %t -L%build/lib -Wl,-rpath,%build/lib -lmpgrt
// RUN: env MPG_MODE=none OMP_NUM_THREADS=3 %t 33554432 0 memory | FileCheck %s --check-prefix=MEMORY
// SAME: same: 60 runs
// MEMORY: little memory
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#define NOINLINE __attribute__((noinline))
#define CASE NOINLINE double
#define USE(a)                                                                 \
  _Pragma("omp parallel for schedule(static)")                                 \
  for (long i = 0; i < n; ++i) if (flag) a[i] += 1;                            \
  double last = flag && n ? a[n - 1] + a[n / 2] : 0;                           \
  free(a);                                                                     \
  return last

// CHECK: asked: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+4]]
CASE asked(long n, int flag) {
  double *a = malloc(n * sizeof(double));
  if (flag)
    for (long i = 0; i < n; ++i) a[i] = i;
  USE(a);
}
// CHECK: left_early: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+7]]
CASE left_early(long n, int flag) {
  double *a = malloc(n * sizeof(double));
  if (!flag) {
    free(a);
    return 0;
  }
  for (long i = 0; i < n; ++i) a[i] = i;
  USE(a);
}
// Asked in the function that writes.
static NOINLINE void fill(double *a, long n, int flag) {
  if (!flag) return;
  // CHECK: fill: calls 0, SerialFirstTouch@[[#@LINE+1]]
  for (long i = 0; i < n; ++i) a[i] = i;
}
CASE asked_inside(long n, int flag) {
  double *a = malloc(n * sizeof(double));
  fill(a, n, flag);
  USE(a);
}
// Half of it is certain.
// CHECK: half: calls 0, SerialFirstTouch@{{[0-9]+}}
CASE half(long n, int flag) {
  double *a = malloc(2 * n * sizeof(double));
  if (flag)
    for (long i = 0; i < n; ++i) a[i] = i;
  for (long i = n; i < 2 * n; ++i) a[i] = i;
  n *= 2;
  USE(a);
}
// Omits a twentieth: as if the array had room for more.
// CHECK: with_room: calls 0, SerialFirstTouch@[[#@LINE+3]]
CASE with_room(long n, int flag) {
  double *a = malloc((n + n / 20) * sizeof(double));
  for (long i = 0; i < n; ++i) a[i] = i;
  USE(a);
}
// A file may end before.
// CHECK: from_file: calls 0, SerialFirstTouch@[[#@LINE+4]]
CASE from_file(long n, int flag) {
  double *a = malloc(n * sizeof(double));
  FILE *file = fopen(flag ? "/dev/zero" : "/dev/null", "r");
  if (file) fread(a, sizeof(double), n, file);
  if (file) fclose(file);
  USE(a);
}
// Tests for memory, and of a size, do not count as decisions.
// CHECK: tested: calls 2, FirstTouchInserted@[[#@LINE+3]], FirstTouchInserted@[[#@LINE+4]], SerialFirstTouch@[[#@LINE+7]], SerialFirstTouch@[[#@LINE+9]]
CASE tested(long n, int flag) {
  if (!flag) return 0;
  double *a = malloc(n * sizeof(double));
  double *b = malloc(n * n * sizeof(double));
  if (!a || !b) return -1;
  if (n > 1)
    for (long i = 0; i < n; ++i) a[i] = i;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) b[i * n + j] = i;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[i] += b[i * n];
  double last = a[n - 1];
  free(a);
  free(b);
  return last;
}
// A global array has its call where its first writer is certain to write.
static double kept[1 << 25];
static NOINLINE void keep(void) {
  // CHECK: keep: calls 0, FirstTouchInserted@[[#@LINE+1]], SerialFirstTouch@[[#@LINE+1]]
  for (long i = 0; i < 1 << 25; ++i) kept[i] = 1;
}
// CHECK: by_caller: calls 1
CASE by_caller(int flag) {
  if (flag) keep();
#pragma omp parallel for schedule(static)
  for (long i = 0; i < 1 << 25; ++i) if (flag) kept[i] += 1;
  return kept[5];
}

int main(int argc, char **argv) {
  long n = atol(argv[1]);
  int flag = atoi(argv[2]);
  double sum = asked(n, flag) + left_early(n, flag) + asked_inside(n, flag) + half(n / 64, flag) +
               with_room(n / 64, flag) + from_file(n, flag) + tested(n < 1000 ? n : 1000, flag) +
               by_caller(flag);
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  if (argc == 3)
    printf("%.1f\n", sum);
  else // each array has 256 MiB
    puts(used.ru_maxrss < 100 << 10 ? "little memory" : "much memory");
}
// CHECK: end
