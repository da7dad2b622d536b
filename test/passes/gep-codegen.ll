; The GEP form is wrong even as the very last change of the IR: code generation
; deletes the store through the tagged pointer in front of the plain load.
; REQUIRES: qemu-aarch64, aarch64-linux-gnu-gcc
; RUN: split-file %s %t
; RUN: cat %t/or.ll %t/gep.ll > %t/wrong.ll
; RUN: %opt -passes=mpg-tags -S %t/or.ll -o %t/or.tagged.ll
; RUN: %opt -passes=mpg-tags -S %t/wrong.ll -o %t/gep.tagged.ll
; RUN: %llc -O3 -mcpu=a64fx -filetype=obj %t/or.tagged.ll -o %t/or.o
; RUN: %llc -O3 -mcpu=a64fx -filetype=obj %t/gep.tagged.ll -o %t/gep.o
; RUN: aarch64-linux-gnu-gcc -static %t/main.c %t/or.o -o %t/or
; RUN: aarch64-linux-gnu-gcc -static %t/main.c %t/gep.o -o %t/gep
; RUN: %run512 %t/or | FileCheck %s --check-prefix=OR
; RUN: %run512 %t/gep | FileCheck %s --check-prefix=GEP
; RUN: llvm-objdump -d %t/or.o > %t/or.s
; RUN: %count %t/or.s --function between --tag 0x10 --at-least 2
; OR: 1
; GEP: 0
;--- main.c
#include <stdio.h>
int between(int *p);
int main(void) {
  int x = 0;
  printf("%d\n", between(&x));
  return 0;
}
;--- or.ll
target datalayout = "e-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128"
target triple = "aarch64-unknown-linux-gnu"

define i32 @between(ptr %p) {
  store i32 1, ptr %p, !mmra !0
  %read = load i32, ptr %p
  store i32 3, ptr %p, !mmra !0
  ret i32 %read
}
!0 = !{!"mpg", !"10"}
!mpg.marks = !{}
;--- gep.ll
!mpg.options = !{!1}
!1 = !{!"test-place=gep"}
