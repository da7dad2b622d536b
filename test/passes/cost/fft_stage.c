// A tag is put on inside the innermost loop of a radix-2 stage of a Fourier
// transform, or lost there: two halves of an array and a table.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x02 --at-least 8
// RUN: %tagged %t.s --loops --tag 0x40 --at-least 1

#include <mpg/hints.h>

void fftStage(MPG_SECTOR(2) float *re, MPG_SECTOR(2) float *im,
              MPG_HINT(keep, no_l1_hwpf) const float *restrict twiddle, long n,
              long half) {
  for (long block = 0; block < n; block += 2 * half)
    for (long i = 0; i < half; i++) {
      long a = block + i, b = a + half;
      float c = twiddle[2 * i], s = twiddle[2 * i + 1];
      float r = re[b] * c - im[b] * s, m = re[b] * s + im[b] * c;
      re[b] = re[a] - r;
      im[b] = im[a] - m;
      re[a] += r;
      im[a] += m;
    }
}
