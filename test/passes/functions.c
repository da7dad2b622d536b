// A hint on a function is for all its accesses that have none of their own; one on
// a variable is stronger, and off leaves alone.
// RUN: %hinted-c -O1 -fno-vectorize -fno-unroll-loops -S %s -o %t.s
// RUN: %count %t.s > %t.txt
// RUN: FileCheck %s --input-file=%t.txt
#include <mpg/hints.h>

// CHECK: all: 2 of 2 tagged, {{.*}}; 2 with 0x01
MPG_STREAM long all(long *a, long *b) { return a[3] + b[5]; }
// CHECK: stronger: 2 of 2 tagged, {{.*}}; 1 with 0x01, 1 with 0x02
MPG_STREAM long stronger(MPG_SECTOR(2) long *a, long *b) { return a[3] + b[5]; }
// CHECK: keeps: 1 of 2 tagged, {{.*}}; 1 with 0x01
MPG_STREAM long keeps(MPG_KEEP long *a, long *b) { return a[3] + b[5]; }
// CHECK: off: 1 of 2 tagged, {{.*}}; 1 with 0x01
MPG_STREAM long off(MPG_HINT(off) long *a, long *b) { return a[3] + b[5]; }
// CHECK: other: 0 of 2 tagged
long other(long *a, long *b) { return a[3] + b[5]; }

// Inlined, the hints of each stay those of each.
static inline MPG_STREAM long small(long *a) { return a[7]; }
// CHECK: caller: 1 of 2 tagged, {{.*}}; 1 with 0x01
long caller(long *a, long *b) { return small(a) + b[5]; }

// The caller's hint does not cover accesses of a callee through its own parameter,
// even where it was inlined and shares the pointer.
static inline long unhinted(long *b) { return b[9]; }
// CHECK: shares: 1 of 2 tagged, {{.*}}; 1 with 0x01
long shares(MPG_STREAM long *a) { return a[1] + unhinted(a); }
// CHECK: shares_loop: {{.*}} in loops 1 of 2; 1 with 0x01
void shares_loop(MPG_STREAM long *a, long n) {
  for (long i = 0; i < n; i++)
    a[i] = unhinted(a + i) + 1;
}
// Two pointers to the same place, one of them with a hint.
// CHECK: alias: 1 of 2 tagged, {{.*}}; 1 with 0x01
long alias(long *a) {
  MPG_STREAM long *b = a;
  return b[1] + a[9];
}
