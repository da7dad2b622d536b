// A loop gets longer whose two pointers into one array are compared: by a plain
// copy of each for the comparison, and by addresses that are calculated twice.
// RUN: %a64fx -O3 -S %s -o %t.plain.s
// RUN: %a64fx -O3 %hints -S %s -o %t.s
// RUN: %python %tools/innermost_loops.py --lengths 0 %t.plain.s %t.s
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 4
// RUN: %tagged %t.plain.s --at-most 0

#include <mpg/hints.h>

void reverse(MPG_STREAM int *a, long from, long to) {
  for (int *first = a + from, *last = a + to; first < --last; ++first) {
    int kept = *first;
    *first = *last;
    *last = kept;
  }
}
