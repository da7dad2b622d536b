// Members of a union lie at the address of the object itself: a hint of one must not
// spread to the others, nor get lost.
// RUN: %hinted-cxx -O1 -S %s -o %t.s 2>&1 | count 0
// RUN: %count %t.s > %t.txt && FileCheck %s --input-file=%t.txt
#include <mpg/hints.h>

union Any {
  MPG_STREAM long *p;
  MPG_SECTOR(2) long *q;
  long *r;
  MPG_SECTOR(3) long a[4];
  long both() const;
  long different() const;
};
// CHECK: _ZNK3Any4bothEv: 1 of 3 tagged, {{.*}}; 1 with 0x01
long Any::both() const { return p[1] + r[3]; }
// CHECK: _ZNK3Any9differentEv: 2 of 3 tagged, {{.*}}; 1 with 0x01, 1 with 0x02
long Any::different() const { return p[1] + q[3]; }
extern "C" {
// CHECK: array: 1 of 1 tagged, {{.*}}; 1 with 0x03
long array(Any *u) { return u->a[2]; }
// CHECK: first: 1 of 1 tagged, {{.*}}; 1 with 0x03
long first(Any *u) { return u->a[0]; }
// CHECK: none: 0 of 2 tagged
long none(Any *u) { return u->r[2]; }
}
struct Inside {
  union {
    MPG_STREAM long *p;
    long *r;
  };
  long sum() const;
};
// CHECK: _ZNK6Inside3sumEv: 1 of 3 tagged, {{.*}}; 1 with 0x01
long Inside::sum() const { return p[1] + r[3]; }
