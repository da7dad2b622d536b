// A tag is put on inside the innermost loop of a filter with short taps, or
// lost there: the loop over the taps is unrolled away.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 9

#include <mpg/hints.h>

void fir(MPG_STREAM const float *restrict in, const float *taps,
         MPG_STREAM float *restrict out, long n) {
  for (long i = 0; i < n; i++) {
    float sum = 0;
    for (int k = 0; k < 8; k++)
      sum += in[i + k] * taps[k];
    out[i] = sum;
  }
}
