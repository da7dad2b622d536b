// Hints for code that may not be edited: each form of a name must reach exactly the
// variable that it means.
// RUN: split-file %s %t && cd %t
// RUN: env MPG_PASS_OPTIONS=hints=hints.yaml %hinted-c -O1 -g -fno-vectorize -fno-unroll-loops -S app.c -o app.s 2> messages
// RUN: count 0 < messages
// RUN: %count app.s > counts && FileCheck app.c --input-file=counts
// RUN: grep -c 'bl.*mpg_sector_begin' app.s | grep -x 1
//
// Two files, and hints in the source beside them; -g is not needed for parameters.
// RUN: env MPG_PASS_OPTIONS=hints=first.yaml,hints=second.yaml %hinted-c -O1 -S app.c -o two.s 2>&1 | count 0
// RUN: %count two.s > counts && FileCheck app.c --check-prefix=TWO --input-file=counts
//
// Debug information that is only there for names goes again: the code is the same.
// RUN: env MPG_PASS_OPTIONS=hints=hints.yaml,strip-debug=on %hinted-c -O1 -g -fno-vectorize -fno-unroll-loops -c app.c -o stripped.o
// RUN: llvm-readelf -S stripped.o | FileCheck %s --check-prefix=STRIPPED --implicit-check-not=.debug
// STRIPPED: .note.mpg.hints
// RUN: llvm-objdump -d stripped.o > stripped.s && %count stripped.s > counts && FileCheck app.c --input-file=counts
// RUN: env MPG_PASS_OPTIONS=strip-debug=on %hinted-c -O0 -g -c app.c -o stripped0.o
// RUN: llvm-readelf -S stripped0.o | FileCheck %s --check-prefix=O0 --implicit-check-not=.debug
// O0: .text
//
// The file is empty, or has only comments: nothing happens.
// RUN: env MPG_PASS_OPTIONS=hints=empty.yaml %hinted-c -O1 -S app.c -o empty.s 2>&1 | count 0
// RUN: %count empty.s --at-most 0
//--- empty.yaml
# nothing yet
//--- first.yaml
parameter/1: stream
//--- second.yaml
local/2: sector=2
//--- hints.yaml
# A comment.
parameter/1: stream
"local/c": 'hint:sector=2'
wholeFunction: [sector=3, no_l1_hwpf]
table: sector=1, no_l2_hwpf
pointer: sector=2
lines/a@23-23: no_hwpf
withWays:
  - ways:l2=10,l1=2
  - stream
//--- app.c
extern long take(long);
long table[64], *pointer;
// TWO: parameter: 1 of 2 tagged, {{.*}}; 1 with 0x01
// CHECK: parameter: 1 of 2 tagged, {{.*}}; 1 with 0x01
long parameter(long *a, long *b) { return a[1] + b[9]; }
// TWO: local: 1 of 2 tagged, {{.*}}; 1 with 0x02
// CHECK: local: 1 of 2 tagged, {{.*}}; 1 with 0x02
long local(long *a, long *b) {
  long *c = b;
  return a[1] + c[9];
}
// CHECK: wholeFunction: 2 of 2 tagged, {{.*}}; 2 with 0x43
long wholeFunction(long *a, long *b) { return a[1] + b[9]; }
// CHECK: globals: 2 of {{[34]}} tagged, {{.*}}; 1 with 0x02, 1 with 0x21
long globals(int i) { return table[i] + pointer[i]; }
// CHECK: other: 0 of 2 tagged
long other(long *a, long *b) { return a[1] + b[9]; }
// CHECK: lines: 1 of 3 tagged, {{.*}}; 1 with 0x60
long lines(long *a, long *b) {
  long x = a[1];
  take(x);

  x += a[2];
  take(x);
  return x + b[3];
}
// CHECK: withWays: 1 of {{.*}} tagged, {{.*}}; 1 with 0x01
void withWays(long *a) { a[1] = 1; }
