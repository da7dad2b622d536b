// Bitcode that was written with tags is optimised once more: the vectoriser's
// overlap check must not see the tags, or a shift by one element goes wrong.
// REQUIRES: aarch64-linux-gnu-gcc, qemu-aarch64
// RUN: %hinted-c -O1 -c -emit-llvm %s -o %t/once.bc
// RUN: %hinted-c -O3 -c %t/once.bc -o %t/twice.o && %hinted-c -static %t/twice.o -o %t/twice
// RUN: %run512 %t/twice | FileCheck %s --check-prefix=PRINTS
// PRINTS: shift 1000
//
// The tags are there once, and so is the note.
// RUN: llvm-objdump -d --no-show-raw-insn %t/twice.o | FileCheck %s
// CHECK-LABEL: <shift>:
// CHECK: orr {{.*}}#0x100000000000000
// RUN: llvm-readelf -S %t/twice.o | grep -c note.mpg.hints | FileCheck %s --check-prefix=NOTES
// NOTES: {{^1$}}
//
// Without the plugin the second time it does go wrong: the test can see it.
// RUN: %plain-c -O3 %t/once.bc -static -o %t/wrong && %run512 %t/wrong | FileCheck %s --check-prefix=WRONG
// WRONG: shift 1{{$}}
#include <mpg/hints.h>
#include <stdio.h>

__attribute__((noinline)) void shift(MPG_STREAM int *to, int *from, int n) {
  for (int i = 0; i < n; i++)
    to[i] = from[i] + 1;
}
int main(void) {
  static int x[2048];
  shift(x + 1, x, 2000);
  printf("shift %d\n", x[1000]);
}
