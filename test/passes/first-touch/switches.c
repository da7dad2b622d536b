// The user decides: for the program with the option, for functions and variables in the
// source. Switched off, an array is skipped without a remark; switched on, it is placed
// although the initialisation is not proven to cover it.
// RUN: %remarks %s | %expect %s
// RUN: %remarks -UMPG_HINTS %s | %expect %s --check-prefix=PLAIN
// RUN: %remarks-mode off %c-loaded %s | %expect %s --check-prefix=SILENT
// RUN: %remarks-mode remark %c-loaded %s | %expect %s --check-prefix=REMARK
// RUN: %same-args --args 600000 --args 4 -- %c-program %s | FileCheck %s --check-prefix=SAME
// The other way to give the option, which LLVM 19 does not have.
// RUN: %if llvm-22 %{ %compile -O2 -mllvm -mpg-first-touch=off -S -emit-llvm %s -o - | FileCheck %s --check-prefix=NO-CALL %}
// RUN: %if llvm-22 %{ not %compile -O2 -mllvm -mpg-first-touch=always -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=WRONG %}
// NO-CALL-NOT: mpg_first_touch
// WRONG: first-touch=always{{.*}} must be off, remark, on or parallel-init
// SAME: same: 40 runs
// SILENT: end
#include <mpg/hints.h>
#include <stdio.h>
#include <stdlib.h>
#define CASE __attribute__((noinline)) double
#define INIT(a) for (long i = 0; i < n; ++i) a[i] = i
#define USE(a)                                                                  \
  _Pragma("omp parallel for schedule(static)")                                 \
  for (long i = 0; i < n; ++i) a[i] += 1;                                      \
  double last = n ? a[n - 1] + a[n / 2] : 0

// CHECK: usual: calls 1, FirstTouchInserted@[[#@LINE+4]], SerialFirstTouch@[[#@LINE+5]]
// PLAIN: usual: calls 1, FirstTouchInserted@[[#@LINE+3]], SerialFirstTouch@[[#@LINE+4]]
// REMARK: usual: calls 0, SerialFirstTouch@[[#@LINE+3]]
CASE usual(long n) {
  double *a = malloc(n * sizeof(double));
  INIT(a);
  USE(a);
  free(a);
  return last;
}
// PLAIN: off_function: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
MPG_FIRST_TOUCH_OFF CASE off_function(long n) {
  double *a = malloc(n * sizeof(double));
  INIT(a);
  USE(a);
  free(a);
  return last;
}
// PLAIN: off_variable: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE off_variable(long n) {
  MPG_FIRST_TOUCH_OFF double *a = malloc(n * sizeof(double));
  INIT(a);
  USE(a);
  free(a);
  return last;
}
MPG_FIRST_TOUCH_OFF static double g[1000000];
// PLAIN: off_array: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+2]]
CASE off_array(long n) {
  for (long i = 0; i < 1000000; ++i) g[i] = i;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < 1000000; ++i) g[i] += 1;
  return g[n];
}
// Whether the serial loop writes all of malloc's memory is unknown: the user asserts it.
// CHECK: on_variable: calls 1, FirstTouchInserted@[[#@LINE+2]]
CASE on_variable(long n, long m) {
  MPG_FIRST_TOUCH double *a = malloc(n * sizeof(double));
  for (long i = 0; i < m; ++i) a[i] = i;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[i] = i < m ? a[i] + 1 : 0;
  double last = m ? a[m - 1] + a[n - 1] : 0;
  free(a);
  return last;
}

int main(int argc, char **argv) {
  long n = atol(argv[1]);
  printf("%.1f %.1f %.1f %.1f %.1f\n", usual(n), off_function(n), off_variable(n),
         off_array(n), on_variable(n, n / 2));
}
// CHECK: end
// PLAIN: end
// REMARK: end
