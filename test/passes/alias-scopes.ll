; What alias analysis knows of one iteration is written down for all, and code
; generation moves a load over the store of another row.
; RUN: %opt -passes='mpg-tags,verify' -S %s | FileCheck %s
target datalayout = "e-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128"
target triple = "aarch64-unknown-linux-gnu"
declare void @llvm.assume(i1)

; The rows of one iteration lie apart; that of the next may be one of them. The
; table lies apart from all.
; CHECK-LABEL: @rows(
; CHECK: %x = load double, {{.*}} !alias.scope ![[P:[0-9]+]]{{$}}
; CHECK: store double %x, {{.*}} !alias.scope ![[Q:[0-9]+]]{{$}}
; CHECK: store double %x, ptr %table, align 8, !noalias ![[BOTH:[0-9]+]]
; CHECK: ![[P]] = !{![[PSCOPE:[0-9]+]]}
; CHECK: ![[Q]] = !{![[QSCOPE:[0-9]+]]}
; CHECK: ![[BOTH]] = !{![[PSCOPE]], ![[QSCOPE]]}
define void @rows(ptr %left, ptr %right, ptr noalias %table, i64 %n) #0 {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %inext, %latch ]
  %pp = getelementptr ptr, ptr %left, i64 %i
  %p = load ptr, ptr %pp
  %qq = getelementptr ptr, ptr %right, i64 %i
  %q = load ptr, ptr %qq
  call void @llvm.assume(i1 true) [ "separate_storage"(ptr %p, ptr %q) ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %jnext, %inner ]
  %a = getelementptr double, ptr %p, i64 %j
  %x = load double, ptr %a, align 8, !mmra !0
  %b = getelementptr double, ptr %q, i64 %j
  store double %x, ptr %b, align 8, !mmra !0
  store double %x, ptr %table, align 8
  %jnext = add i64 %j, 1
  %c = icmp eq i64 %jnext, %n
  br i1 %c, label %latch, label %inner
latch:
  %inext = add i64 %i, 1
  %d = icmp eq i64 %inext, %n
  br i1 %d, label %exit, label %outer
exit:
  ret void
}

attributes #0 = { "target-cpu"="a64fx" }
!0 = !{!"mpg", !"01"}
!mpg.marks = !{}
