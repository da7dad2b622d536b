; A loop that ends by a switch, and one with a token, which no PHI node can have, stay as they are. No
; size of a scalable vector is a constant.
; RUN: env MPG_PASS_OPTIONS=sector=auto,zfill=4,prefetch=far,prefetch-indirect=32,test-zfill=always %opt -passes='mpg-sectors,mpg-zfill,mpg-prefetch,verify' -S %s | FileCheck %s
target triple = "aarch64-unknown-linux-gnu"

; CHECK-LABEL: define void @switch(
; CHECK-NOT: write_register
; CHECK-LABEL: define void @branch(
; CHECK: call void @llvm.write_register
define void @switch(ptr %p) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %place = getelementptr i64, ptr %p, i64 %i
  store i64 1, ptr %place
  %next = add nuw nsw i64 %i, 1
  switch i64 %next, label %loop [ i64 100000, label %exit ]
exit:
  ret void
}
define void @branch(ptr %p) {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %place = getelementptr i64, ptr %p, i64 %i
  store i64 1, ptr %place
  %next = add nuw nsw i64 %i, 1
  %end = icmp eq i64 %next, 100000
  br i1 %end, label %exit, label %loop
exit:
  ret void
}
; CHECK-LABEL: define i64 @token(
; CHECK-NOT: call void @llvm.prefetch
; CHECK-LABEL: define i64 @none(
; CHECK: call void @llvm.prefetch
define i64 @token(ptr %table, ptr %list, i64 %n) convergent {
  %all = call token @llvm.experimental.convergence.entry()
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %sum = phi i64 [ 0, %0 ], [ %more, %loop ]
  %each = call token @llvm.experimental.convergence.loop() [ "convergencectrl"(token %all) ]
  %place = getelementptr i64, ptr %list, i64 %i
  %index = load i64, ptr %place
  %element = getelementptr i64, ptr %table, i64 %index
  %value = load i64, ptr %element
  %more = add i64 %sum, %value
  %next = add nuw nsw i64 %i, 1
  %end = icmp eq i64 %next, %n
  br i1 %end, label %exit, label %loop
exit:
  call void @barrier() [ "convergencectrl"(token %each) ]
  ret i64 %more
}
define i64 @none(ptr %table, ptr %list, i64 %n) convergent {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %sum = phi i64 [ 0, %0 ], [ %more, %loop ]
  %place = getelementptr i64, ptr %list, i64 %i
  %index = load i64, ptr %place
  %element = getelementptr i64, ptr %table, i64 %index
  %value = load i64, ptr %element
  %more = add i64 %sum, %value
  %next = add nuw nsw i64 %i, 1
  %end = icmp eq i64 %next, %n
  br i1 %end, label %exit, label %loop
exit:
  call void @barrier()
  ret i64 %more
}
; CHECK-LABEL: define void @scalable(
; CHECK: call void @llvm.write_register
define void @scalable(ptr noalias %p, ptr noalias %q) "target-features"="+sve" {
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %from = getelementptr <vscale x 2 x double>, ptr %q, i64 %i
  %vector = load <vscale x 2 x double>, ptr %from
  %to = getelementptr <vscale x 2 x double>, ptr %p, i64 %i
  store <vscale x 2 x double> %vector, ptr %to
  %next = add nuw nsw i64 %i, 1
  %end = icmp eq i64 %next, 100000
  br i1 %end, label %exit, label %loop
exit:
  ret void
}
declare void @barrier() convergent nounwind
declare token @llvm.experimental.convergence.entry()
declare token @llvm.experimental.convergence.loop()
