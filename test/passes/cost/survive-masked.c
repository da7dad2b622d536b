// With its tail folded into a mask, a vector load in a sum becomes a new
// instruction in InstCombine; here the hint gets lost on the way.
// RUN: %a64fx %hints -Os -S %s -o %t.s.s
// RUN: %a64fx %hints -O3 -mllvm -prefer-predicate-over-epilogue=predicate-dont-vectorize -S %s -o %t.3.s
//
// The loops have masks and vectors, or this test would check nothing.
// RUN: %python %tools/innermost_loops.py %t.s.s | FileCheck %s
// RUN: %python %tools/innermost_loops.py %t.3.s | FileCheck %s
// CHECK: sum at {{.*}}, vector, 0 for tags
// CHECK: weightedSum at {{.*}}, vector, 0 for tags
//
// RUN: %tagged %t.s.s --function sum --loops --all --at-least 1
// RUN: %tagged %t.3.s --function sum --loops --all --at-least 1
// RUN: %tagged %t.s.s --function weightedSum --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.3.s --function weightedSum --loops --tag 0x01 --at-least 1
// RUN: not %tagged %t.s.s --function weightedSum --loops --all

#include <mpg/hints.h>

double sum(MPG_STREAM const double *values, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    sum += values[i];
  return sum;
}

double weightedSum(MPG_STREAM const double *values, const double *weights,
                   long n) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    sum += weights[i] * values[i];
  return sum;
}
