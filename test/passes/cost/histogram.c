// A tag is put on inside the innermost loop of a histogram, or lost there: it
// loads and stores through an index.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.s --loops --tag 0x40 --at-least 2

#include <mpg/hints.h>

void histogram(MPG_STREAM const unsigned char *restrict data,
               MPG_HINT(keep, no_l1_hwpf) int *restrict counts, long n) {
  for (long i = 0; i < n; i++)
    counts[data[i]]++;
}
