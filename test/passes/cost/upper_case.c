// A tag is put on inside the innermost loop of a loop that rewrites a text in
// place, or lost there: the stores depend on a condition.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x41 --at-least 2

#include <mpg/hints.h>

void upperCase(MPG_HINT(sector=1, no_l1_hwpf) char *text, long n) {
  for (long i = 0; i < n; i++)
    if (text[i] >= 'a' && text[i] <= 'z')
      text[i] -= 'a' - 'A';
}
