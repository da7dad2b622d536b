// The user's choice for one array applies to that array and no other: "off" as if the
// pass had not seen it, "on" although the initialisation is not proven to cover it.
// RUN: split-file %s %t && cd %t
// DEFINE: %{ir} = %clang --target=x86_64-linux-gnu -O2 -fopenmp -gline-tables-only -I%source/runtime/include -DMPG_HINTS -fpass-plugin=%passes -foptimization-record-file=said -foptimization-record-passes=mpg -S -emit-llvm -o out.ll
// DEFINE: %{calls} = grep -c FirstTouchInserted said | grep -x
// Of two arrays one is opted out: a call and remarks for the other one alone.
// RUN: %{ir} off.c && %{calls} 1
// RUN: FileCheck off.c --input-file=said && grep 'call .*@mpg_first_touch' out.ll
// RUN: grep -c SerialFirstTouch said | grep -x 1
// The whole function, and the regions in it; a global array.
// RUN: %{ir} function.c && not grep mpg_first_touch out.ll && not grep FirstTouch said
// RUN: %{ir} table.c && not grep mpg_first_touch out.ll && not grep FirstTouch said
// A wrapper that is inlined has only the variable's choice.
// RUN: %{ir} wrapper.c && %{calls} 1
// An initialisation with unknown coverage: a call with "on" only.
// RUN: %{ir} wanted.c && %{calls} 1
// RUN: sed 's/MPG_FIRST_TOUCH //' wanted.c > unwanted.c
// RUN: %{ir} unwanted.c && not grep mpg_first_touch out.ll
// Without the macro: both arrays.
// RUN: sed 's/MPG_FIRST_TOUCH_OFF //' off.c > both.c
// RUN: %{ir} both.c && %{calls} 2
// RUN: grep -c SerialFirstTouch said | grep -x 2
// The modes: remarks and no call; nothing at all.
// RUN: env MPG_PASS_OPTIONS=first-touch=remark %{ir} both.c && not grep mpg_first_touch out.ll
// RUN: grep -c SerialFirstTouch said | grep -x 2
// RUN: not grep FirstTouchInserted said
// RUN: env MPG_PASS_OPTIONS=first-touch=off %{ir} both.c && not grep mpg_first_touch out.ll && not grep FirstTouch said
//--- off.c
#include <mpg/hints.h>
#include <stdlib.h>
void take(double *, double *);
void f(long n) {
  MPG_FIRST_TOUCH_OFF double *a = malloc(n * sizeof *a);
  double *b = malloc(n * sizeof *b);
  for (long i = 0; i < n; i++)
    a[i] = i;
  // CHECK: Name: {{.*}}SerialFirstTouch
  // CHECK-NEXT: DebugLoc: {{.*}}Line: [[#@LINE+2]]
  for (long i = 0; i < n; i++)
    b[i] = i;
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    b[i] += a[i];
  take(a, b);
}
//--- function.c
#include <mpg/hints.h>
#include <stdlib.h>
void take(double *);
MPG_FIRST_TOUCH_OFF void f(long n) {
  double *a = malloc(n * sizeof *a);
  for (long i = 0; i < n; i++)
    a[i] = i;
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    a[i] += 1;
  take(a);
}
//--- table.c
#include <mpg/hints.h>
MPG_FIRST_TOUCH_OFF double table[1 << 22];
int main(void) {
  for (long i = 0; i < 1 << 22; i++)
    table[i] = i;
#pragma omp parallel for
  for (long i = 0; i < 1 << 22; i++)
    table[i] += 1;
  return table[5] != 6;
}
//--- wrapper.c
#include <mpg/hints.h>
#include <stdlib.h>
void take(double *, double *);
static double *get(long n) {
  double *result = malloc(n * sizeof *result);
  if (!result)
    abort();
  return result;
}
void f(long n) {
  MPG_FIRST_TOUCH_OFF double *a = get(n);
  double *b = get(n);
  for (long i = 0; i < n; i++)
    a[i] = b[i] = i;
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    b[i] += a[i];
  take(a, b);
}
//--- wanted.c
#include <mpg/hints.h>
#include <stdlib.h>
void take(double *);
void f(long n, long count) {
  MPG_FIRST_TOUCH double *a = malloc(n * sizeof *a);
  for (long i = 0; i < count; i++)
    a[i] = i;
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    a[i] += 1;
  take(a);
}
