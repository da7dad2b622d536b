// A hint means the loads and stores through its variable, and no others: each
// function here has both, and the numbers of each are known.
// RUN: %hinted-c -O1 -fno-vectorize -fno-unroll-loops -S %s -o %t.s
// RUN: %count %t.s > %t.txt
// RUN: FileCheck %s --input-file=%t.txt
// The unoptimised numbers of accesses are the same without hints.
// RUN: %plain-c -O1 -fno-vectorize -fno-unroll-loops -S %s -o %t.plain.s
// RUN: %count %t.plain.s --at-most 0 > %t.plain.txt
#include <mpg/hints.h>

// CHECK: parameter: 1 of 2 tagged, {{.*}}; 1 with 0x01
long parameter(MPG_SECTOR(1) long *a, long *b) { return a[3] + b[5]; }

// Hints on the second one leave the first alone, and stores count as loads do.
// CHECK: second: 1 of 2 tagged, {{.*}}; 1 with 0x02
void second(long *a, MPG_SECTOR(2) long *b) {
  a[2] = 1;
  b[4] = 2;
}

// Local, and only set from where no hint is: the hint is on the variable.
// CHECK: local: 1 of 2 tagged, {{.*}}; 1 with 0x40
long local(long *a, long *b) {
  MPG_NO_L1_HWPF long *c = a + 7;
  return c[1] + b[1];
}

// CHECK: stream: 1 of 1 tagged, {{.*}}; 1 with 0x01
long stream(MPG_STREAM long *a) { return a[3]; }
// Sector 0 without more is what an address without a tag means.
// CHECK: keep: 0 of 1 tagged
long keep(MPG_KEEP long *a) { return a[3]; }
// CHECK: keep_no_l2: 1 of 1 tagged, {{.*}}; 1 with 0x20
long keep_no_l2(MPG_HINT(keep, no_l2_hwpf) long *a) { return a[3]; }
// CHECK: several: 1 of 1 tagged, {{.*}}; 1 with 0x63
long several(MPG_SECTOR(3) MPG_NO_L1_HWPF MPG_NO_L2_HWPF long *a) {
  return a[3];
}
// CHECK: no_hwpf: 1 of 1 tagged, {{.*}}; 1 with 0x60
long no_hwpf(MPG_NO_HWPF long *a) { return a[3]; }
// CHECK: weak: 1 of 1 tagged, {{.*}}; 1 with 0x10
long weak(MPG_WEAK_SWPF long *a) { return a[3]; }
// A prefetch is an access too; the plain one beside it is not tagged.
// CHECK: prefetch: 1 of 2 tagged, {{.*}}; 1 with 0x10
void prefetch(MPG_WEAK_SWPF long *a, long *b) {
  __builtin_prefetch(a + 32);
  __builtin_prefetch(b + 32);
}

// CHECK: copy: 2 of 3 tagged, {{.*}}; 2 with 0x01
long copy(MPG_STREAM long *a, long *b) {
  long *c = a + 1;
  return a[3] + c[5] + b[2];
}
// A local pointer that is set from something else as well is not followed.
// CHECK: copy_of_both: 0 of 1 tagged
long copy_of_both(MPG_STREAM long *a, long *b, int n) {
  long *c = a;
  if (n)
    c = b;
  return c[3];
}
// CHECK: either: 0 of 1 tagged
long either(MPG_STREAM long *a, long *b, int n) { return (n ? a : b)[5]; }
// Both branches have the hint.
// CHECK: either_part: 1 of 1 tagged, {{.*}}; 1 with 0x01
long either_part(MPG_STREAM long *a, int n) { return (n ? a + 9 : a + 2)[5]; }
// CHECK: walk: 1 of 2 tagged, in loops 1 of 2; 1 with 0x01
void walk(MPG_STREAM const long *p, long *q, long n) {
  while (n--)
    *q++ = *p++ + 3;
}

// Pointers to pointers: the hint is about what the variable points to.
// CHECK: rows: 1 of 2 tagged, {{.*}}; 1 with 0x01
long rows(MPG_STREAM long **a) { return a[1][2]; }

void take(long *p);
// The callee's accesses are its own: nothing of a's is here.
// CHECK-NOT: passed_on: {{[1-9][0-9]*}} of
void passed_on(MPG_STREAM long *a) { take(a); }
