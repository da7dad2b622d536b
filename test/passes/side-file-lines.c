// Ways and hints for some lines of a function: they must begin and end with those
// lines, or the rest of the function runs with the wrong cache.
// REQUIRES: aarch64-linux-gnu-gcc, qemu-aarch64
// RUN: split-file %s %t && cd %t
// RUN: env MPG_PASS_OPTIONS=hints=hints.yaml,strip-debug=on %hinted-c -O2 -g -c app.c -o app.o 2>&1 | count 0
// RUN: aarch64-linux-gnu-gcc -I%source/runtime/include -static app.o %inputs/sector_calls.c -o app
// RUN: %run512 ./app 2>&1 | FileCheck app.c
//
// Without -g, lines are unknown: a warning, and no ways are set.
// RUN: env MPG_PASS_OPTIONS=hints=hints.yaml %hinted-c -g0 -O2 -c app.c -o app.o 2>&1 | FileCheck %s --check-prefix=NOLINES
// NOLINES: warning: hints.yaml:1: no ways are set, and tags there have no effect without ways from elsewhere: lines 7 to 12 of 'run' have no code, no one way in and out, or no debug information (-g)
// RUN: llvm-nm app.o | FileCheck %s --check-prefix=NONE
// NONE-NOT: mpg_sector
//--- hints.yaml
run@7-12: ways:l2=10,l1=2
//--- app.c
#include <stdio.h>
void say(const char *what) { fprintf(stderr, "%s\n", what); }
__attribute__((noinline)) void run(long *a, long n) {
  // CHECK: before
  say("before");

  // CHECK-NEXT: begin 2 2 255 255 4 10: 0
  // CHECK-NEXT: inside
  for (long i = 0; i < n; i++)
    a[i] = i;
  if (a[1] == 1)
    say("inside");

  // CHECK-NEXT: end 0
  // CHECK-NEXT: after
  say("after");
}
int main(void) {
  static long a[100];
  run(a, 100);
  return 0;
}
