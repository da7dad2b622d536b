// A tag is put on inside the innermost loop of a counting sort, or lost
// there: three loops with one table.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 3
// RUN: %tagged %t.s --loops --tag 0x40 --at-least 4

#include <mpg/hints.h>

void countingSort(MPG_STREAM const unsigned char *restrict in,
                  MPG_HINT(keep, no_l1_hwpf) long *restrict first,
                  MPG_STREAM unsigned char *restrict out, long n) {
  for (long i = 0; i < n; i++)
    first[in[i] + 1]++;
  for (int k = 0; k < 256; k++)
    first[k + 1] += first[k];
  for (long i = 0; i < n; i++)
    out[first[in[i]]++] = in[i];
}
