// The tag hides restrict pointers and separate globals from alias analysis.
// Without the scopes code generation keeps loads behind unrelated stores, and
// the loops get longer (forward by 15 instructions, one by 8).
// RUN: %a64fx -msve-vector-bits=512 -O3 -g -S %s -o %t.plain.s
// RUN: %a64fx -msve-vector-bits=512 -O3 -g %hints -S %s -o %t.s
// RUN: %python %tools/innermost_loops.py --lengths 0 %t.plain.s %t.s
// RUN: %a64fx -O3 -S %s -o %t.plain.s
// RUN: %a64fx -O3 %hints -S %s -o %t.s
// RUN: %python %tools/innermost_loops.py --lengths 0 %t.plain.s %t.s
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 8
//
// The scopes are ours, and refer to objects, not to accesses.
// RUN: %a64fx -O1 %hints -S -emit-llvm %s -o - | FileCheck %s
// CHECK-LABEL: @forward(
// CHECK: store float {{.*}} !alias.scope ![[#]], !noalias
// CHECK: !"mpg objects"
#include <mpg/hints.h>

MPG_STREAM float a[32000];
MPG_STREAM float b[32000];
MPG_STREAM float c[32000];
MPG_STREAM float d[32000];

void scale(MPG_STREAM double *restrict to, MPG_STREAM const double *restrict from,
           double s, long n) {
  for (long i = 0; i < n; i++)
    to[i] = s * from[i];
}

void globals(float s) {
  for (int i = 0; i < 32000; i++)
    a[i] = s * b[i];
}

void forward(void) {
  for (int i = 1; i < 32000 - 1; i++) {
    a[i] = b[i - 1] + c[i] * d[i];
    b[i] = b[i + 1] - d[i];
  }
}

void one(void) {
  for (int i = 0; i < 32000; i++)
    a[i] = a[16000] + b[i];
}
