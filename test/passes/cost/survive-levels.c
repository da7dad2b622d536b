// A hint that is read at the start of the compile gets lost on the way to the
// code at one of the optimisation levels, or stays where the user said `off`.
// RUN: %a64fx %hints -O1 -S %s -o %t.1.s
// RUN: %a64fx %hints -O2 -S %s -o %t.2.s
// RUN: %a64fx %hints -O3 -S %s -o %t.3.s
// RUN: %a64fx %hints -Os -S %s -o %t.s.s
// RUN: %a64fx %hints -Oz -S %s -o %t.z.s
// RUN: %a64fx %hints -O3 -ffast-math -g -S %s -o %t.g.s
//
// Every access of these loops has its tag: also in vector loops, their scalar
// remainders, unrolled loops.
// RUN: %tagged %t.1.s --function triad --loops --all --at-least 3
// RUN: %tagged %t.2.s --function triad --loops --all --at-least 6
// RUN: %tagged %t.3.s --function triad --loops --all --at-least 9
// RUN: %tagged %t.s.s --function triad --loops --all --at-least 3
// RUN: %tagged %t.z.s --function triad --loops --all --at-least 3
// RUN: %tagged %t.g.s --function triad --loops --all --at-least 9
// RUN: %tagged %t.1.s --function triad --loops --tag 0x41 --at-least 1
// RUN: %tagged %t.2.s --function triad --loops --tag 0x41 --at-least 2
// RUN: %tagged %t.3.s --function triad --loops --tag 0x41 --at-least 3
// RUN: %tagged %t.s.s --function triad --loops --tag 0x41 --at-least 1
// RUN: %tagged %t.z.s --function triad --loops --tag 0x41 --at-least 1
// RUN: %tagged %t.g.s --function triad --loops --tag 0x41 --at-least 3
//
// RUN: %tagged %t.1.s --function unrolled --loops --all --at-least 4
// RUN: %tagged %t.2.s --function unrolled --loops --all --at-least 4
// RUN: %tagged %t.3.s --function unrolled --loops --all --at-least 4
// RUN: %tagged %t.g.s --function unrolled --loops --all --at-least 4
//
// RUN: %tagged %t.1.s --function rows --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.2.s --function rows --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.3.s --function rows --loops --tag 0x01 --at-least 2
// RUN: %tagged %t.s.s --function rows --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.z.s --function rows --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.g.s --function rows --loops --tag 0x01 --at-least 2
//
// RUN: %tagged %t.1.s --function never --at-most 0
// RUN: %tagged %t.3.s --function never --at-most 0
// RUN: %tagged %t.3.s --function nothing --at-most 0
// RUN: env MPG_PASS_OPTIONS=sector=off %a64fx %hints -O3 -S %s -o %t.off.s
// RUN: %tagged %t.off.s --at-most 0

#include <mpg/hints.h>

void triad(MPG_STREAM double *restrict a, MPG_STREAM const double *restrict b,
           MPG_HINT(sector=1, no_l1_hwpf) const double *restrict c, double s,
           long n) {
  for (long i = 0; i < n; i++)
    a[i] = b[i] + s * c[i];
}

// A chain through memory: nothing for the vectoriser, four copies.
long unrolled(MPG_HINT(keep, no_hwpf) const int *next, long n) {
  long at = 0;
#pragma unroll 4
  for (long i = 0; i < n; i++)
    at = next[at];
  return at;
}

void rows(MPG_STREAM const double *restrict matrix, double *restrict scaled,
          const double *factors, long count, long width) {
  for (long i = 0; i < count; i++)
    for (long j = 0; j < width; j++)
      scaled[i * width + j] = matrix[i * width + j] * factors[j];
}

MPG_NO_HINTS void never(MPG_STREAM double *a, long n) {
  for (long i = 0; i < n; i++)
    a[i] += 1;
}

void nothing(double *a, long n) {
  for (long i = 0; i < n; i++)
    a[i] += 1;
}
