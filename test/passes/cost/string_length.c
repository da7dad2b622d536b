// A tag is put on inside the innermost loop of a loop up to the end of a
// string, or lost there: the pointer itself moves.
// RUN: %a64fx -O3 -S %s -o %t.plain.s
// RUN: %a64fx -O3 %hints -S %s -o %t.s
// RUN: %python %tools/innermost_loops.py %t.plain.s %t.s
// RUN: %tagged %t.s --loops --tag 0x61 --at-least 1
// RUN: %tagged %t.plain.s --at-most 0

#include <mpg/hints.h>

long blanksOf(MPG_HINT(sector=1, no_hwpf) const char *text) {
  long blanks = 0;
  for (; *text; text++)
    blanks += *text == ' ';
  return blanks;
}
