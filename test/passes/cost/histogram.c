// A tag is put on inside the innermost loop of a histogram, or lost there: it
// loads and stores through an index.
// RUN: %a64fx -O3 -S %s -o %t.plain.s
// RUN: %a64fx -O3 %hints -S %s -o %t.s
// RUN: %python %tools/innermost_loops.py %t.plain.s %t.s
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.s --loops --tag 0x40 --at-least 2
// RUN: %tagged %t.plain.s --at-most 0

#include <mpg/hints.h>

void histogram(MPG_STREAM const unsigned char *restrict data,
               MPG_HINT(keep, no_l1_hwpf) int *restrict counts, long n) {
  for (long i = 0; i < n; i++)
    counts[data[i]]++;
}
