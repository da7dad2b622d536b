; Bases that are hard to place a tag for: a wrong place is code that is not valid,
; and an endless walk hangs the compiler.
; RUN: %opt -passes='mpg-tags,verify' -S %s | FileCheck %s
target datalayout = "e-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128"
target triple = "aarch64-unknown-linux-gnu"
@g = global [100 x i64] zeroinitializer
@absolute = alias i8, inttoptr (i64 4096 to ptr)

; The step in front of the loop starts from a part of the global: both follow the tag.
; CHECK-LABEL: @part(
; CHECK: inttoptr i64 {{.*}} to ptr
; CHECK: loop:
; CHECK-NOT: inttoptr
define void @part(i64 %i, i64 %n) {
entry:
  %s = getelementptr i64, ptr getelementptr inbounds (i8, ptr @g, i64 8), i64 %i
  br label %loop
loop:
  %j = phi i64 [0, %entry], [%j1, %loop]
  %a = getelementptr i64, ptr %s, i64 %j
  store i64 %n, ptr %a, !mmra !0
  %j1 = add i64 %j, 1
  %c = icmp eq i64 %j1, %n
  br i1 %c, label %out, label %loop
out:
  ret void
}

; In front of the last loop is the end of the one before, and so on.
; CHECK-LABEL: @chain(
; CHECK: entry:
; CHECK: inttoptr i64 {{.*}} to ptr
; CHECK: first:
; CHECK-NOT: inttoptr
define void @chain(ptr %p, i64 %n) {
entry:
  br label %first
first:
  %i = phi i64 [0, %entry], [%i1, %first]
  %i1 = add i64 %i, 1
  %c1 = icmp eq i64 %i1, %n
  br i1 %c1, label %second, label %first
second:
  %j = phi i64 [0, %first], [%j1, %second]
  %j1 = add i64 %j, 1
  %c2 = icmp eq i64 %j1, %n
  br i1 %c2, label %third, label %second
third:
  %k = phi i64 [0, %second], [%k1, %third]
  %a = getelementptr i64, ptr %p, i64 %k
  store i64 %n, ptr %a, !mmra !0
  %k1 = add i64 %k, 1
  %c3 = icmp eq i64 %k1, %n
  br i1 %c3, label %out, label %third
out:
  ret void
}

; Two steps share the one that they start from.
; CHECK-LABEL: @shared(
; CHECK: inttoptr i64 {{.*}} to ptr
; CHECK: loop:
; CHECK-NOT: inttoptr
define void @shared(ptr %p, i64 %m, i64 %n, i1 %b) {
entry:
  %x = getelementptr i64, ptr %p, i64 %m
  %ga = getelementptr i64, ptr %x, i64 %n
  %gb = getelementptr i32, ptr %x, i64 %n
  br label %loop
loop:
  %q = phi ptr [%ga, %entry], [%qs, %loop]
  %j = phi i64 [0, %entry], [%j1, %loop]
  store i64 %n, ptr %q, !mmra !0
  %q1 = getelementptr i64, ptr %q, i64 1
  %qs = select i1 %b, ptr %gb, ptr %q1
  %j1 = add i64 %j, 1
  %c = icmp eq i64 %j1, %n
  br i1 %c, label %out, label %loop
out:
  ret void
}

; Not a variable: left alone.
; CHECK-LABEL: @alias(
; CHECK-NOT: inttoptr i64 %
define void @alias(i8 %v) {
  store i8 %v, ptr @absolute, !mmra !0
  ret void
}

; A pointer out of a block that nothing reaches may be computed from itself.
; CHECK-LABEL: @unreachable(
; CHECK-NOT: inttoptr i64 %
define void @unreachable(ptr %p, i8 %v, i1 %c) {
entry:
  br label %loop
dead:
  %g = getelementptr i8, ptr %g, i64 1
  br label %loop
loop:
  %q = phi ptr [%p, %entry], [%g, %dead], [%q1, %loop]
  store i8 %v, ptr %q, !mmra !0
  %q1 = getelementptr i8, ptr %q, i64 3
  br i1 %c, label %loop, label %out
out:
  ret void
}
!0 = !{!"mpg", !"01"}
!mpg.marks = !{}
