// A tag is put on inside the innermost loop of a merge of two sorted runs, or
// lost there: pointers move on by conditions.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.s --loops --tag 0x02 --at-least 1
// RUN: %tagged %t.s --loops --tag 0x41 --at-least 1

#include <mpg/hints.h>

void merge(MPG_STREAM const int *a, const int *aEnd, MPG_SECTOR(2) const int *b,
           const int *bEnd,
           MPG_HINT(sector=1, no_l1_hwpf) int *restrict out) {
  while (a != aEnd && b != bEnd)
    *out++ = *b < *a ? *b++ : *a++;
}
