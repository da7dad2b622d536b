// A tag is put on inside the innermost loop of a loop over the bytes of a
// text, or lost there.
// RUN: %a64fx -O3 -S %s -o %t.plain.s
// RUN: %a64fx -O3 %hints -S %s -o %t.s
// RUN: %python %tools/innermost_loops.py %t.plain.s %t.s
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 2
// RUN: %tagged %t.plain.s --at-most 0

#include <mpg/hints.h>

long countBytes(MPG_STREAM const char *text, long n, char wanted) {
  long count = 0;
  for (long i = 0; i < n; i++)
    count += text[i] == wanted;
  return count;
}
