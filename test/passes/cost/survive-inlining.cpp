// A hint on a parameter gets lost when the function disappears into its caller,
// or sticks to what the caller does with the same array itself.
// RUN: %a64fx %hints -O2 -S %s -o %t.2.s
// RUN: %a64fx %hints -O3 -S %s -o %t.3.s
// RUN: %a64fx %hints -Os -S %s -o %t.s.s
//
// The helpers are gone, so what is counted came out of them.
// RUN: not grep "bl.*helper" %t.2.s
// RUN: not grep "bl.*helper" %t.3.s
//
// RUN: %tagged %t.2.s --function scale --loops --all --at-least 2
// RUN: %tagged %t.3.s --function scale --loops --all --at-least 2
// RUN: %tagged %t.s.s --function scale --loops --all --at-least 2
//
// One array, two functions with different hints for it.
// RUN: %tagged %t.2.s --function twoHints --loops --tag 0x01 --at-least 2
// RUN: %tagged %t.2.s --function twoHints --loops --tag 0x42 --at-least 2
// RUN: %tagged %t.3.s --function twoHints --loops --tag 0x01 --at-least 2
// RUN: %tagged %t.3.s --function twoHints --loops --tag 0x42 --at-least 2
//
// Inlined into the loop of a caller: the base is the caller's.
// RUN: %tagged %t.2.s --function inLoop --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.3.s --function inLoop --loops --tag 0x01 --at-least 1
//
// The caller's own loop over the same array has no hint.
// RUN: %tagged %t.3.s --function ownLoop --loops --tag 0x01 --at-least 2
// RUN: not %tagged %t.3.s --function ownLoop --loops --all

#include <mpg/hints.h>

static inline void helperScale(MPG_STREAM double *a, long n, double s) {
  for (long i = 0; i < n; i++)
    a[i] *= s;
}

static inline void helperShift(MPG_HINT(sector=2, no_l1_hwpf) double *a, long n,
                               double s) {
  for (long i = 0; i < n; i++)
    a[i] += s;
}

template <typename T>
static inline T helperElement(MPG_STREAM const T *values, long i) {
  return values[i];
}

extern "C" void scale(double *a, long n) { helperScale(a, n, 3.0); }

extern "C" void barrier();

extern "C" void twoHints(double *a, long n) {
  helperScale(a, n, 3.0);
  barrier();
  helperShift(a, n, 1.0);
}

extern "C" float inLoop(const float *values, const int *index, long n) {
  float sum = 0;
  for (long i = 0; i < n; i++)
    sum += helperElement(values, index[i]);
  return sum;
}

extern "C" void ownLoop(double *a, long n) {
  helperScale(a, n, 3.0);
  barrier();
  for (long i = 0; i < n; i++)
    a[i] = 1 / a[i];
}
