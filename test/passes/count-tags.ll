; The independent count of tagged accesses counts what it should: with a wrong
; one the share that the long runs demand means nothing.
; REQUIRES: llvm-22
; UNSUPPORTED: emulated
; (the host's own opt loads no plugin for AArch64)
; RUN: sh -c "%clangxx -O1 -shared -fPIC $(llvm-config --cxxflags) \
; RUN:   %source/test/tools/CountTags.cpp -o %t.so"
; RUN: rm -f %t.txt
; RUN: env COUNT_TAGS_FILE=%t.txt opt -load-pass-plugin=%t.so \
; RUN:   -passes=count-tags -disable-output %s
; RUN: FileCheck %s < %t.txt
; Eligible: the plain accesses to a, b and pointers, and the gather. Not: the stack
; slot, the volatile and the atomic one, the one through a pointer that the loop
; loads, and what stands behind the loop. Tagged: the store to a and the gather;
; not the load with a tag that code generation can see.
; CHECK: count-tags.ll 6 2

target triple = "aarch64-linux-gnu"

define void @f(ptr %a, ptr %b, ptr %pointers, <4 x i64> %index, i64 %n) {
entry:
  %slot = alloca [8 x i64]
  %bits = ptrtoint ptr %a to i64
  %whole = or i64 %bits, 1152921504606846976
  %copy = call i64 asm "", "=r,0"(i64 %whole)
  %tagged.a = inttoptr i64 %copy to ptr
  %seen.a = inttoptr i64 %whole to ptr
  %bits.b = ptrtoint ptr %b to i64
  %whole.b = or i64 %bits.b, 72057594037927936
  %copy.b = call i64 asm "", "=r,0"(i64 %whole.b)
  %tagged.b = inttoptr i64 %copy.b to ptr
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %walk = phi ptr [ %b, %entry ], [ %step, %loop ]
  %step = getelementptr i8, ptr %walk, i64 8
  %x = load i64, ptr %walk
  %at.a = getelementptr i64, ptr %a, i64 %i
  %y = load i64, ptr %at.a
  %seen.at = getelementptr i64, ptr %seen.a, i64 %i
  %u = load i64, ptr %seen.at
  %to = getelementptr i64, ptr %tagged.a, i64 %i
  store i64 %y, ptr %to
  %many = getelementptr i64, ptr %tagged.b, <4 x i64> %index
  %z = call <4 x i64> @llvm.masked.gather.v4i64.v4p0(<4 x ptr> %many, <4 x i1> splat (i1 true), <4 x i64> poison)
  %in.slot = getelementptr i64, ptr %slot, i64 %i
  store i64 %x, ptr %in.slot
  %v = load volatile i64, ptr %at.a
  %w = load atomic i64, ptr %at.a monotonic, align 8
  %at.p = getelementptr ptr, ptr %pointers, i64 %i
  %p = load ptr, ptr %at.p
  store i64 %w, ptr %p
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop

exit:
  store i64 0, ptr %tagged.a
  ret void
}
