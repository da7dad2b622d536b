// A tag is put on inside the innermost loop of a permutation by bit reversal,
// or lost there: the index is computed with shifts and ors.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 1
// RUN: %tagged %t.s --loops --tag 0x42 --at-least 1

#include <mpg/hints.h>

void bitReversal(MPG_STREAM const double *restrict in,
                 MPG_HINT(sector=2, no_l1_hwpf) double *restrict out,
                 int bits) {
  for (unsigned i = 0; i < 1u << bits; i++) {
    unsigned reversed = 0;
    for (int b = 0; b < bits; b++)
      reversed |= (i >> b & 1) << (bits - 1 - b);
    out[reversed] = in[i];
  }
}
