// The tag must neither be added inside the innermost loop of a generic dot
// product nor be lost there: the hint is in a template that is inlined.
// RUN: %same-loops -O3 -ffast-math
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.s --loops --tag 0x02 --at-least 1

#include <mpg/hints.h>

template <typename T, typename Step>
static T accumulate(MPG_STREAM const T *a, MPG_SECTOR(2) const T *b, long n,
                    Step step) {
  T sum = 0;
  for (long i = 0; i < n; i++)
    sum = step(sum, a[i], b[i]);
  return sum;
}

float dot(const float *a, const float *b, long n) {
  return accumulate(a, b, n,
                    [](float sum, float x, float y) { return sum + x * y; });
}
