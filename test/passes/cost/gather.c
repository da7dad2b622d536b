// A tag costs an instruction in the vector loop of a gather, whose scalar
// base must stay one, or the loop loses a hint.
// RUN: %same-vector-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 4
// RUN: %tagged %t.s --loops --tag 0x02 --at-least 1

#include <mpg/hints.h>

void gather(MPG_SECTOR(2) const double *restrict table,
            MPG_STREAM const int *restrict index,
            MPG_STREAM double *restrict out, long n) {
#pragma clang loop vectorize(enable) // Not worth it to this cost model.
  for (long i = 0; i < n; i++)
    out[i] = table[index[i]];
}
