// A tag is put on inside the innermost loop of a search for a word, or lost
// there: both loops end early.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.s --loops --tag 0x62 --at-least 1

#include <mpg/hints.h>

long findText(MPG_STREAM const char *text, long n,
              MPG_HINT(sector=2, no_hwpf) const char *word, long length) {
  for (long i = 0; i + length <= n; i++) {
    long j = 0;
    while (j < length && text[i + j] == word[j])
      j++;
    if (j == length)
      return i;
  }
  return -1;
}
