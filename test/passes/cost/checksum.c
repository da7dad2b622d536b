// A tag is put on inside the innermost loop of a checksum, or lost there:
// each byte needs the sum before it.
// RUN: %a64fx -O3 -S %s -o %t.plain.s
// RUN: %a64fx -O3 %hints -S %s -o %t.s
// RUN: %python %tools/innermost_loops.py %t.plain.s %t.s
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.plain.s --at-most 0

#include <mpg/hints.h>

unsigned checksum(MPG_STREAM const unsigned char *data, long n) {
  unsigned a = 1, b = 0;
  for (long i = 0; i < n; i++) {
    a = (a + data[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}
