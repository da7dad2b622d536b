; In code that is never reached a pointer or a number can be computed from itself:
; looking for what it begins at must come to an end.
; RUN: env MPG_PASS_OPTIONS=random-hints=1 %opt -passes='mpg-hints,default<O2>' -S %s | FileCheck %s
; RUN: env MPG_PASS_OPTIONS=random-hints=1 %opt -passes='mpg-hints,mpg-tags,verify' -S %s | FileCheck %s
; CHECK-LABEL: define void @selfStep(
; CHECK-LABEL: define i8 @reached(
; CHECK: inttoptr
; CHECK: load i8, ptr %{{.*}}
target datalayout = "e-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128"
target triple = "aarch64-unknown-linux-gnu"

define void @selfStep(ptr %p) "mpg-bases" {
  ret void
loop:
  %a = getelementptr i8, ptr %b, i64 1
  %b = getelementptr i8, ptr %a, i64 1
  %x = load i8, ptr %a
  %wide = zext i8 %narrow to i32
  %narrow = trunc i32 %wide to i8
  store i8 %narrow, ptr %a
  br label %loop
}
define i8 @reached(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %sum = phi i8 [0, %entry], [%more, %loop]
  %a = getelementptr i8, ptr %p, i64 %i
  %x = load i8, ptr %a
  %more = xor i8 %sum, %x
  %next = add i64 %i, 3
  %done = icmp ugt i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret i8 %more
}
