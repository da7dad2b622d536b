// A tag is put on inside the innermost loop of a Walsh-Hadamard transform in
// place, or lost there.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x41 --at-least 4

#include <mpg/hints.h>

void hadamard(MPG_HINT(sector=1, no_l1_hwpf) double *data, long n) {
  for (long half = 1; half < n; half *= 2)
    for (long block = 0; block < n; block += 2 * half)
      for (long i = block; i < block + half; i++) {
        double a = data[i], b = data[i + half];
        data[i] = a + b;
        data[i + half] = a - b;
      }
}
