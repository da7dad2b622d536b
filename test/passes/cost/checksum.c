// A tag is put on inside the innermost loop of a checksum, or lost there:
// each byte needs the sum before it.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 1

#include <mpg/hints.h>

unsigned checksum(MPG_STREAM const unsigned char *data, long n) {
  unsigned a = 1, b = 0;
  for (long i = 0; i < n; i++) {
    a = (a + data[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}
