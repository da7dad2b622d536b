; IR that no front end writes but other passes may leave: each function is converted
; or not, and the code is valid after it. A crash or wrong code otherwise.
; RUN: %all-opt -passes=mpg-parallel-all %s -o %t.ll
; RUN: FileCheck %s --input-file=%t.ll
; RUN: %all-opt -passes='mpg-parallel-all,default<O2>' %s -o /dev/null
; RUN: %all-opt -passes='mpg-parallel-all,mpg-parallel-all' %s -o /dev/null
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@tls = thread_local global [1048576 x double] zeroinitializer

; No block in front of the loop and none of its own behind it; the branch leaves
; where the condition is true; an 8-bit counter wraps.
; CHECK-LABEL: define void @shapeless(
; CHECK: __kmpc_fork_call
define void @shapeless(ptr %a, i64 noundef %m, i1 %c) {
entry:
  br i1 %c, label %loop, label %end
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %small = phi i8 [ 250, %entry ], [ %smallNext, %loop ]
  %p = getelementptr i64, ptr %a, i64 %i
  %v = zext i8 %small to i64
  store i64 %v, ptr %p
  %next = add i64 %i, 1
  %smallNext = add i8 %small, 3
  %done = icmp eq i64 %next, %m
  br i1 %done, label %end, label %loop
end:
  %r = phi i64 [ 0, %entry ], [ %next, %loop ]
  ret void
}

; A pointer that moves, and one that is left over.
; CHECK-LABEL: define ptr @moving(
; CHECK: __kmpc_fork_call
define ptr @moving(ptr %a, ptr %end) {
entry:
  br label %loop
loop:
  %p = phi ptr [ %a, %entry ], [ %next, %loop ]
  store double 1.0, ptr %p
  %next = getelementptr inbounds i8, ptr %p, i64 8
  %done = icmp eq ptr %next, %end
  br i1 %done, label %out, label %loop
out:
  ret ptr %next
}

; Values that may be poison are made some number before they decide anything.
; CHECK-LABEL: define void @unsure(
; CHECK: freeze i64
; CHECK: __kmpc_fork_call
define void @unsure(ptr %a, i64 noundef %m, i64 %offset, i1 %c) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %tail ]
  %p = getelementptr i64, ptr %a, i64 %i
  store i64 1, ptr %p
  br i1 %c, label %rare, label %tail
rare:
  %far = getelementptr i64, ptr %p, i64 %offset
  %v = load i64, ptr %far
  store i64 %v, ptr %p
  br label %tail
tail:
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %m
  br i1 %done, label %out, label %loop
out:
  ret void
}

; Without llvm.threadlocal.address: every thread would write its own array.
; CHECK-LABEL: define void @local(
; CHECK-NOT: fork_call
; CHECK: ret void
define void @local() {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr double, ptr @tls, i64 %i
  store double 1.0, ptr %p
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 1048576
  br i1 %done, label %out, label %loop
out:
  call void @llvm.memset.p0.i64(ptr @tls, i8 1, i64 8388608, i1 false)
  ret void
}

; More iterations than there are addresses; a counter of 128 bits.
; CHECK-LABEL: define void @endless(
; CHECK-NOT: fork_call
; CHECK: ret void
define void @endless(ptr %a, i128 %m) {
entry:
  br label %loop
loop:
  %i = phi i128 [ 0, %entry ], [ %next, %loop ]
  %low = trunc i128 %i to i64
  %p = getelementptr double, ptr %a, i64 %low
  store double 1.0, ptr %p
  %next = add i128 %i, 1
  %done = icmp eq i128 %next, %m
  br i1 %done, label %out, label %loop
out:
  ret void
}

; All numbers of 64 bits in turn: the array would be larger than the memory.
; CHECK-LABEL: define void @everything(
; CHECK-NOT: fork_call
; CHECK: ret void
define void @everything(ptr %a) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr i8, ptr %a, i64 %i
  store i8 1, ptr %p
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, 0
  br i1 %done, label %out, label %loop
out:
  ret void
}

; Two loops, one after the other, use what the first leaves.
; CHECK-LABEL: define i64 @twice(
; CHECK: __kmpc_fork_call
; CHECK: __kmpc_fork_call
define i64 @twice(ptr %a, i32 noundef %m) {
entry:
  br label %one
one:
  %i = phi i32 [ 0, %entry ], [ %next, %one ]
  %w = zext i32 %i to i64
  %p = getelementptr i64, ptr %a, i64 %w
  store i64 %w, ptr %p
  %next = add nuw i32 %i, 1
  %more = icmp ult i32 %next, %m
  br i1 %more, label %one, label %two
two:
  %j = phi i32 [ %next, %one ], [ %down, %two ]
  %down = add nsw i32 %j, -1
  %x = sext i32 %down to i64
  %q = getelementptr i64, ptr %a, i64 %x
  store i64 7, ptr %q
  %again = icmp sgt i32 %down, 0
  br i1 %again, label %two, label %out
out:
  %sum = add i32 %j, %next
  %r = zext i32 %sum to i64
  ret i64 %r
}

; An array in another address space; a memset that must not be changed.
; CHECK-LABEL: define void @special(
; CHECK-NOT: fork_call
; CHECK: ret void
define void @special(ptr addrspace(1) %a, ptr %b, i64 %m) {
entry:
  call void @llvm.memset.p1.i64(ptr addrspace(1) %a, i8 1, i64 %m, i1 false)
  call void @llvm.memset.p0.i64(ptr %b, i8 1, i64 %m, i1 true)
  ret void
}

; Iterations that set a whole row each, by a call.
; CHECK-LABEL: define void @rows(
; CHECK: __kmpc_fork_call
define void @rows(ptr %a, i64 noundef %m, i64 noundef %bytes) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %offset = mul nsw i64 %i, %bytes
  %p = getelementptr i8, ptr %a, i64 %offset
  call void @llvm.memset.p0.i64(ptr %p, i8 1, i64 %bytes, i1 false)
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %m
  br i1 %done, label %out, label %loop
out:
  ret void
}

; A variable list of arguments that is read beside the loop and the memset.
; CHECK-LABEL: define void @listed(
; CHECK: __kmpc_fork_call
; CHECK: __kmpc_fork_call
define void @listed(ptr %a, i64 noundef %m, ...) {
entry:
  %list = alloca [24 x i8], align 8
  call void @llvm.va_start.p0(ptr %list)
  call void @llvm.va_end.p0(ptr %list)
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr i64, ptr %a, i64 %i
  store i64 %i, ptr %p
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %m
  br i1 %done, label %out, label %loop
out:
  call void @llvm.memset.p0.i64(ptr %a, i8 1, i64 %m, i1 false)
  ret void
}

; A label inside the loop whose address is kept, and the address of one outside, in
; a loop and in a memset.
; CHECK-LABEL: define void @labels(
; CHECK-NOT: fork_call
; CHECK: ret void
define void @labels(ptr %a, i64 noundef %m, ptr %kept) {
entry:
  store ptr blockaddress(@labels, %one), ptr %kept
  br label %one
one:
  %i = phi i64 [ 0, %entry ], [ %next, %one ]
  %p = getelementptr i64, ptr %a, i64 %i
  store i64 %i, ptr %p
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %m
  br i1 %done, label %between, label %one
between:
  br label %two
two:
  %j = phi i64 [ 0, %between ], [ %nextJ, %two ]
  %q = getelementptr ptr, ptr %a, i64 %j
  store ptr getelementptr (i8, ptr blockaddress(@labels, %end), i64 1), ptr %q
  %nextJ = add nuw nsw i64 %j, 1
  %doneJ = icmp eq i64 %nextJ, %m
  br i1 %doneJ, label %out, label %two
out:
  call void @llvm.memset.p0.i64(ptr %a, i8 trunc (i64 ptrtoint (ptr blockaddress(@labels, %end) to i64) to i8), i64 %m, i1 false)
  indirectbr ptr %kept, [label %end]
end:
  ret void
}

declare void @llvm.va_start.p0(ptr)
declare void @llvm.va_end.p0(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memset.p1.i64(ptr addrspace(1), i8, i64, i1)
