// A wrong hint is a warning with its line and the allowed values, and the code
// is the same as without the hint; never half of the hint.
// RUN: cd %t
// RUN: cp %s wrong.c
// RUN: %hinted-c -O2 -fno-ident -S wrong.c -o wrong.s 2> messages
// RUN: FileCheck %s --input-file=messages
// RUN: not grep error: messages && grep -c warning: messages | grep -x 24
// RUN: %plain-c -O2 -fno-ident -S wrong.c -o plain.s && cmp wrong.s plain.s
// RUN: not %hinted-c -O2 -Werror -S wrong.c -o /dev/null
#include <mpg/hints.h>
#ifdef MPG_HINTS
#define RAW(text) __attribute__((annotate(text)))
#else
#define RAW(text)
#endif

// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:hint:sector=7' is ignored: 'sector=7': sector= takes a number from 0 to 3
long sector(MPG_SECTOR(7) long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:hint:sector=-1' is ignored: 'sector=-1': sector= takes a number from 0 to 3
long negative(MPG_HINT(sector=-1) long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:hint:strem' is ignored: unknown hint 'strem'; known: sector=0..3, stream, keep,
long unknown(MPG_HINT(strem) long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:hint:sector' is ignored: 'sector': sector= takes a number
long noNumber(MPG_HINT(sector) long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:hint:' is ignored: nothing follows the colon; write for example hint:sector=1
long empty(RAW("mpg:1:hint:") long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:hint:stream,' is ignored: unknown hint ''
long comma(MPG_HINT(stream,) long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:hint:stream, sector=2' is ignored: contradictory hints: sector 1 and sector 2; leave out one of them
long both(MPG_HINT(stream, sector=2) long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:hint:{{.*}}' is ignored: contradictory hints: sector {{[12]}} and sector {{[12]}}; leave out one of them
long twoMacros(MPG_STREAM MPG_SECTOR(2) long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:hint:stream, off' is ignored: contradictory hints: off and another hint; leave out one of them
long offAndOn(MPG_HINT(stream, off) long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:2:hint:stream' is ignored: it begins with 'mpg:2:' and not with 'mpg:1:', the version that this plugin knows
long version(RAW("mpg:2:hint:stream") long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:hnt:stream' is ignored: unknown kind of hint 'hnt'; known: hint, ways
long kind(RAW("mpg:1:hnt:stream") long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:assign:sector=1' is ignored: this kind is for pragmas
long pragmas(RAW("mpg:1:assign:sector=1") long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:ways:l2=4' is ignored: ways are for functions; put it in front of the function
long ways(MPG_WAYS(l2=4) long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:ways:l2=99' is ignored: 'l2=99': l2= takes a number from 0 to 14
MPG_WAYS(l2=99) long manyWays(long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:ways:l1=5' is ignored: 'l1=5': l1= takes a number from 0 to 4
MPG_WAYS(l1=5) long manyL1Ways(long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:ways:l2={{[46]}}' is ignored: contradictory hints: l2={{4 and l2=6|6 and l2=4}}; leave out one of them
MPG_WAYS(l2=4) MPG_WAYS(l2=6) long twoWays(long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:ways:l3=5' is ignored: unknown word 'l3=5'; known: l1=0..4, l2=0..14
MPG_WAYS(l3=5) long otherWays(long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: no ways are set: a naked function cannot call functions
MPG_WAYS(l2=4) __attribute__((naked)) void bare(void) { __asm__("ret"); }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: the hint is ignored: inject= needs the option extended=on
long inject(MPG_INJECT(3) long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:hint:inject=8' is ignored: 'inject=8': inject= takes a number from 0 to 7
long injectMany(MPG_INJECT(8) long *a) { return a[1]; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: the hint is ignored: this is neither a pointer nor an array
long number(MPG_STREAM long a) { return a + 1; }
struct record {
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:hint:sector=9' is ignored: 'sector=9': sector= takes a number from 0 to 3
  MPG_SECTOR(9) long *data;
// CHECK-DAG: wrong.c:[[#@LINE+1]]: the hint is ignored: this is neither a pointer nor an array
  MPG_STREAM long number;
};
// Used twice: one warning.
long field(struct record *r) { return r->data[1] + r->number; }
long field2(struct record *r) { return r->data[2] + r->number; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:hint:sector=4' is ignored: 'sector=4': sector= takes a number from 0 to 3
MPG_SECTOR(4) long table[8];
long global(int i) { return table[i]; }
