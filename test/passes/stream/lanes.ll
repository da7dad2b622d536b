; A loop stays as it is where an iteration's lanes are not alike, whatever its marks say: one loop reads
; two elements for four, another takes every second one from elsewhere.
; REQUIRES: clang-22
; RUN: env MPG_PASS_OPTIONS=stream-stores=on,test-large=always %opt -passes='mpg-stream-stores,verify' -S %s | FileCheck %s
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define void @copy(
; CHECK: !nontemporal
define void @copy(ptr noalias %to, ptr noalias %from, i64 %quarter) {
entry:
  %n = shl nuw i64 %quarter, 2
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr float, ptr %from, i64 %i
  %x = load <4 x float>, ptr %place, align 4
  %stored = getelementptr float, ptr %to, i64 %i
  store <4 x float> %x, ptr %stored, align 4
  %next = add nuw i64 %i, 4
  %isEnd = icmp eq i64 %next, %n
  br i1 %isEnd, label %exit, label %loop, !llvm.loop !0
exit:
  ret void
}

; CHECK-LABEL: define void @gap(
; CHECK-NOT: !nontemporal
define void @gap(ptr noalias %to, ptr noalias %from, i64 %quarter) {
entry:
  %n = shl nuw i64 %quarter, 2
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr float, ptr %from, i64 %i
  %x = load <2 x float>, ptr %place, align 4
  %twice = shufflevector <2 x float> %x, <2 x float> %x, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %stored = getelementptr float, ptr %to, i64 %i
  store <4 x float> %twice, ptr %stored, align 4
  %next = add nuw i64 %i, 4
  %isEnd = icmp eq i64 %next, %n
  br i1 %isEnd, label %exit, label %loop, !llvm.loop !1
exit:
  ret void
}

; CHECK-LABEL: define void @selected(
; CHECK-NOT: !nontemporal
define void @selected(ptr noalias %to, ptr noalias %from, ptr noalias %other, i64 %quarter) {
entry:
  %n = shl nuw i64 %quarter, 2
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr float, ptr %from, i64 %i
  %x = load <4 x float>, ptr %place, align 4
  %otherPlace = getelementptr float, ptr %other, i64 %i
  %y = load <4 x float>, ptr %otherPlace, align 4
  %low = shufflevector <4 x float> %x, <4 x float> %y, <4 x i32> <i32 0, i32 5, i32 poison, i32 poison>
  %high = shufflevector <4 x float> %x, <4 x float> %y, <4 x i32> <i32 poison, i32 poison, i32 2, i32 7>
  %first = shufflevector <4 x float> %low, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %second = shufflevector <4 x float> %high, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %all = shufflevector <2 x float> %first, <2 x float> %second, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %stored = getelementptr float, ptr %to, i64 %i
  store <4 x float> %all, ptr %stored, align 4
  %next = add nuw i64 %i, 4
  %isEnd = icmp eq i64 %next, %n
  br i1 %isEnd, label %exit, label %loop, !llvm.loop !2
exit:
  ret void
}

!0 = distinct !{!0, !3, !4}
!1 = distinct !{!1, !3, !4}
!2 = distinct !{!2, !3, !4}
!3 = !{!"llvm.loop.isvectorized", i32 1}
!4 = !{!"mpg.elements.alone", i32 1}
