// However the array gets to the parallel loop, and however the static schedule is written,
// the call is made with that schedule: through structures, arguments, wrappers.
// RUN: %remarks %s | %expect %s
// RUN: %remarks --target=aarch64-linux-gnu -mcpu=a64fx %s | %expect %s
// RUN: %compile -O2 -S -emit-llvm %s -o - | FileCheck %s --check-prefix=IR
// RUN: %same-args --args 600000 --args 5 --args 0 -- %c-program %s | FileCheck %s --check-prefix=SAME
// SAME: same: 60 runs
#include <stdio.h>
#include <stdlib.h>
#define CASE __attribute__((noinline)) double
#define NOINLINE __attribute__((noinline)) static
#define INIT(a) for (long i = 0; i < n; ++i) a[i] = i
#define END(a)                                                                 \
  double last = n ? a[n - 1] + a[n / 2] : 0;                                   \
  free(a);                                                                     \
  return last

struct grid { long n; double *field; };

// CHECK: in_struct: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE in_struct(long n) {
  struct grid g = {n, malloc(n * sizeof(double))};
  INIT(g.field);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) g.field[i] += 1;
  END(g.field);
}
NOINLINE void kernel(long n, double *a) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[i] += 1;
}
// CHECK: by_argument: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE by_argument(long n) {
  double *a = malloc(n * sizeof(double));
  INIT(a);
  kernel(n, a);
  END(a);
}
NOINLINE void struct_kernel(struct grid *g) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < g->n; ++i) g->field[i] += 1;
}
// CHECK: by_struct: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE by_struct(long n) {
  struct grid g = {n, malloc(n * sizeof(double))};
  INIT(g.field);
  struct_kernel(&g);
  END(g.field);
}
// Wrappers one level deep: of the allocation, of the initialisation, of the loop.
NOINLINE void *xmalloc(size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory) exit(9);
  return memory;
}
NOINLINE void fill_all(long n, double *a) {
  for (long i = 0; i < n; ++i) a[i] = i; // SerialFirstTouch of by_wrappers
}
// CHECK: fill_all: calls 0, SerialFirstTouch@[[#@LINE-2]]
// CHECK: by_wrappers: calls 1, FirstTouchInserted@[[#@LINE+2]]
CASE by_wrappers(long n) {
  double *a = xmalloc(n * sizeof(double));
  fill_all(n, a);
  kernel(n, a);
  END(a);
}
// Two loops that are shared out the same way.
// CHECK: two_loops: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE two_loops(long n) {
  double *a = malloc(n * sizeof(double));
  INIT(a);
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (long i = 0; i < n; ++i) a[i] += 1;
#pragma omp for schedule(static)
    for (long i = 0; i < n; ++i) a[i] *= 2;
  }
  END(a);
}
// IR-LABEL: define {{.*}} @chunks(
// IR: call {{.*}}@mpg_first_touch{{.*}}(ptr {{.*}}, i64 {{.*}}, i32 {{.*}}1, i64 {{.*}}8, i64 {{.*}}4096, i32 {{.*}}0)
// CHECK: chunks: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE chunks(long n) {
  double *a = malloc(n * sizeof(double));
  INIT(a);
#pragma omp parallel for schedule(static, 4096)
  for (long i = 0; i < n; ++i) a[i] += 1;
  END(a);
}
// IR-LABEL: define {{.*}} @four_threads(
// IR: call {{.*}}@mpg_first_touch{{.*}}(ptr {{.*}}, i64 {{.*}}, i32 {{.*}}0, i64 {{.*}}8, i64 {{.*}}, i32 {{.*}}4)
// CHECK: four_threads: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE four_threads(long n) {
  double *a = malloc(n * sizeof(double));
  INIT(a);
#pragma omp parallel for num_threads(4) schedule(static)
  for (long i = 0; i < n; ++i) a[i] += 1;
  END(a);
}
// CHECK: collapsed: calls 1, FirstTouchInserted@[[#@LINE+3]], SerialFirstTouch@[[#@LINE+4]]
CASE collapsed(long n) {
  long rows = n / 1000;
  double (*a)[1000] = malloc(rows * sizeof(*a));
  for (long r = 0; r < rows; ++r) for (long c = 0; c < 1000; ++c) a[r][c] = r + c;
#pragma omp parallel for collapse(2) schedule(static)
  for (long r = 0; r < rows; ++r)
    for (long c = 0; c < 1000; ++c) a[r][c] += 1;
  double last = rows ? a[rows - 1][999] : 0;
  free(a);
  return last;
}
// Not from the first element on: the pages at the edge belong to this array
// alone.
// CHECK: stencil: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE stencil(long n) {
  double *a = malloc(n * sizeof(double)), *b = malloc(n * sizeof(double));
  INIT(a);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i)
    b[i] = i > 0 && i < n - 1 ? a[i - 1] + a[i] + a[i + 1] : 0;
  free(a);
  END(b);
}

int main(int argc, char **argv) {
  long n = atol(argv[1]);
  printf("%.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f\n", in_struct(n), by_argument(n),
         by_struct(n), by_wrappers(n), two_loops(n), chunks(n), four_threads(n),
         collapsed(n), stencil(n));
}
// CHECK: end
