// A tag is put on inside the innermost loop of a loop up to the end of a
// string, or lost there: the pointer itself moves.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x61 --at-least 1

#include <mpg/hints.h>

long blanksOf(MPG_HINT(sector=1, no_hwpf) const char *text) {
  long blanks = 0;
  for (; *text; text++)
    blanks += *text == ' ';
  return blanks;
}
