; A loop by a list skips iterations by a number that it counts, of 32 or 64 bits: no atomic variable has
; 48. The loop may never use the number, so it may be poison.
; DEFINE: %{change} = env MPG_PASS_OPTIONS=prefetch-indirect=32 %opt -passes='mpg-prefetch,verify' -S
; RUN: %{change} %s | FileCheck %s
; RUN: grep -v count %s | %{change} | FileCheck %s --check-prefix=NONE
; CHECK: @mpg.skipped = private global i32
; CHECK: freeze i32 %count
; CHECK: call void @llvm.prefetch
; NONE-NOT: mpg.skipped
; NONE-NOT: call void @llvm.prefetch
target triple = "x86_64-unknown-linux-gnu"

define void @visit(ptr %list, ptr %row, i48 %end) {
entry:
  br label %outer

outer:
  %i = phi i48 [ 0, %entry ], [ %next, %latch ]
  %count = phi i32 [ poison, %entry ], [ %counted, %latch ]
  %wide = sext i48 %i to i64
  %place = getelementptr i32, ptr %list, i64 %wide
  %name = load i32, ptr %place
  %begin = getelementptr i32, ptr %row, i32 %name
  %elements = load i32, ptr %begin
  br label %inner

inner:
  %k = phi i32 [ %elements, %outer ], [ %left, %inner ]
  %left = add i32 %k, -1
  %isLast = icmp eq i32 %left, 0
  br i1 %isLast, label %latch, label %inner

latch:
  %counted = add nsw i32 %count, 1
  %next = add nuw nsw i48 %i, 1
  %isEnd = icmp eq i48 %next, %end
  br i1 %isEnd, label %exit, label %outer

exit:
  ret void
}
