// A tag is put on inside the innermost loop of a loop over the bytes of a
// text, or lost there.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 2

#include <mpg/hints.h>

long countBytes(MPG_STREAM const char *text, long n, char wanted) {
  long count = 0;
  for (long i = 0; i < n; i++)
    count += text[i] == wanted;
  return count;
}
