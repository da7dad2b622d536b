// Annotations that are not erased before the optimiser keep loops scalar: hints
// must not cost that.
// RUN: %hinted-c -O2 -fno-ident -S %s -o %t.s
// RUN: FileCheck %s --input-file=%t.s
// RUN: %plain-c -O2 -S %s -o %t.plain.s
// RUN: %python %tools/innermost_loops.py --same-vector-loops %t.plain.s %t.s
// RUN: %count %t.s --function add --loops --tag 0x01 --at-least 1
#include <mpg/hints.h>

struct grid {
  MPG_STREAM double *cells;
};
// CHECK-LABEL: add:
// CHECK: {{ld1d|ldr[[:space:]]z}}
// CHECK: fadd z
// CHECK-LABEL: scale:
// CHECK: fmul z
void add(MPG_STREAM double *restrict a, MPG_KEEP const double *restrict b,
         long n) {
  for (long i = 0; i < n; i++)
    a[i] += b[i];
}
void scale(struct grid *g, long n) {
  double *a = g->cells;
  for (long i = 0; i < n; i++)
    a[i] *= 3;
}
