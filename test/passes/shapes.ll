; Code of odd shapes must come out valid, with each tag once in front of the loop, and
; tagged a second time it must not change any more.
; RUN: %opt -passes='mpg-tags,verify' -S %s -o %t.once.ll
; RUN: FileCheck %s --input-file=%t.once.ll
; RUN: %opt -passes='mpg-tags,mpg-tags,verify' -S %s -o %t.twice.ll
; RUN: cmp %t.once.ll %t.twice.ll
; RUN: %llc -O3 -mcpu=a64fx -verify-machineinstrs %t.once.ll -o /dev/null
target datalayout = "e-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128"
target triple = "aarch64-unknown-linux-gnu"

declare ptr @make()
declare void @taken(ptr)
declare i32 @personality(...)
declare <4 x i64> @llvm.masked.gather.v4i64.v4p0(<4 x ptr>, i32, <4 x i1>, <4 x i64>)

; The result of an invoke is there only behind it.
; CHECK-LABEL: define i64 @invoked
; CHECK: loop:
; CHECK-NOT: inttoptr
; CHECK: ret i64
define i64 @invoked(i64 %n) personality ptr @personality {
entry:
  %p = invoke ptr @make() to label %head unwind label %pad
head:
  br label %loop
loop:
  %i = phi i64 [0, %head], [%i1, %loop]
  %a = getelementptr i64, ptr %p, i64 %i
  %x = load i64, ptr %a, !mmra !0
  %i1 = add i64 %i, 1
  %d = icmp eq i64 %i1, %n
  br i1 %d, label %out, label %loop
out:
  ret i64 %x
pad:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}

; Two bases that come together in the loop; the plain pointer is still compared.
; CHECK-LABEL: define void @merged
; CHECK: entry:
; CHECK-COUNT-2: inttoptr
; CHECK: loop:
; CHECK-NOT: inttoptr
; CHECK: icmp eq ptr %q,
define void @merged(ptr %p, ptr %r, ptr %last, i1 %c) {
entry:
  br label %loop
loop:
  %q = phi ptr [%p, %entry], [%next, %loop]
  store i64 1, ptr %q, !mmra !0
  %step = getelementptr i64, ptr %q, i64 1
  %next = select i1 %c, ptr %step, ptr %r
  %d = icmp eq ptr %q, %last
  br i1 %d, label %out, label %loop
out:
  ret void
}

; A loop with two ways in is no loop to LLVM.
; CHECK-LABEL: define void @irreducible
; CHECK: inttoptr
; CHECK: ret void
define void @irreducible(ptr %p, i1 %c, i64 %n) {
entry:
  br i1 %c, label %one, label %two
one:
  %i = phi i64 [0, %entry], [%j1, %two]
  %a = getelementptr i64, ptr %p, i64 %i
  store i64 1, ptr %a, !mmra !0
  br label %two
two:
  %j = phi i64 [5, %entry], [%i, %one]
  %j1 = add i64 %j, 1
  %d = icmp eq i64 %j1, %n
  br i1 %d, label %out, label %one
out:
  ret void
}

; The same block twice in front of a phi.
; CHECK-LABEL: define void @switched
; CHECK: ret void
define void @switched(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %q = phi ptr [%p, %entry], [%next, %back]
  store i64 %n, ptr %q, !mmra !0
  %near = getelementptr i64, ptr %q, i64 1
  %far = getelementptr i64, ptr %q, i64 9
  switch i64 %n, label %out [ i64 1, label %back
                              i64 2, label %back
                              i64 3, label %other ]
other:
  br label %back
back:
  %next = phi ptr [%near, %loop], [%near, %loop], [%far, %other]
  br label %loop
out:
  ret void
}

; Two tags on one pointer.
; CHECK-LABEL: define void @two
; CHECK-DAG: or i64 %{{.*}}, 72057594037927936
; CHECK-DAG: or i64 %{{.*}}, 2305843009213693952
; CHECK: ret void
define void @two(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%i1, %loop]
  %a = getelementptr i64, ptr %p, i64 %i
  store i64 %n, ptr %a, !mmra !0
  %b = getelementptr i64, ptr %a, i64 7
  store i64 %n, ptr %b, !mmra !1
  %i1 = add i64 %i, 1
  %d = icmp eq i64 %i1, %n
  br i1 %d, label %out, label %loop
out:
  ret void
}

; The pointer goes on to a function: that one gets it without the tag.
; CHECK-LABEL: define void @kept
; CHECK: %a = getelementptr inbounds i64, ptr %p, i64 %n
; CHECK: store i64 %n, ptr %
; CHECK: call void @taken(ptr %a)
define void @kept(ptr %p, i64 %n) {
  %a = getelementptr inbounds i64, ptr %p, i64 %n
  store i64 %n, ptr %a, !mmra !0
  call void @taken(ptr %a)
  ret void
}

; A vector of addresses with one base.
; CHECK-LABEL: define <4 x i64> @gathered
; CHECK: inttoptr i64 %{{.*}} to ptr
; CHECK: getelementptr i64, ptr %{{.*}}, <4 x i64> %i
define <4 x i64> @gathered(ptr %p, <4 x i64> %i, <4 x i1> %m) {
  %a = getelementptr i64, ptr %p, <4 x i64> %i
  %x = call <4 x i64> @llvm.masked.gather.v4i64.v4p0(<4 x ptr> %a, i32 8, <4 x i1> %m, <4 x i64> zeroinitializer), !mmra !0
  ret <4 x i64> %x
}

; Where no code gets to.
; CHECK-LABEL: define void @unreached
; CHECK-NOT: inttoptr
; CHECK: ret void
define void @unreached(ptr %p) {
entry:
  ret void
dead:
  %q = phi ptr [%p, %dead2], [%q2, %dead]
  %q2 = getelementptr i8, ptr %q, i64 1
  store i64 1, ptr %q, !mmra !0
  br label %dead
dead2:
  br label %dead
}
!0 = !{!"mpg", !"01"}
!1 = !{!"mpg", !"20"}
!mpg.marks = !{}
