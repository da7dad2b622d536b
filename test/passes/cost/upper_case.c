// A tag is put on inside the innermost loop of a loop that rewrites a text in
// place, or lost there: the stores depend on a condition.
// RUN: %a64fx -O3 -S %s -o %t.plain.s
// RUN: %a64fx -O3 %hints -S %s -o %t.s
// RUN: %python %tools/innermost_loops.py %t.plain.s %t.s
// RUN: %tagged %t.s --loops --tag 0x41 --at-least 2
// RUN: %tagged %t.plain.s --at-most 0

#include <mpg/hints.h>

void upperCase(MPG_HINT(sector=1, no_l1_hwpf) char *text, long n) {
  for (long i = 0; i < n; i++)
    if (text[i] >= 'a' && text[i] <= 'z')
      text[i] -= 'a' - 'A';
}
