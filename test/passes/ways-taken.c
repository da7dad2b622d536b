// A program with its own mpg_sector_begin, which means something else: no call is
// inserted, and a warning gives the reason.
// RUN: cd %t
// RUN: %hinted-c -O2 -S %s -o out.s 2>&1 | FileCheck %s
// RUN: not grep -w -E 'bl?[[:space:]]+mpg_sector.*' out.s
// RUN: %hinted-c -O2 -S -DOWN=ours %s -o out.s 2>&1 | count 0
// RUN: grep mpg_sector_begin out.s
// CHECK: warning: no ways are set: the program defines its own mpg_sector_begin or mpg_sector_end; rename it
#include <mpg/hints.h>
#ifndef OWN
#define OWN mpg_sector_begin
#endif
double OWN = 3;
MPG_WAYS(l2=4) void f(double *a) { a[1] += OWN; }
