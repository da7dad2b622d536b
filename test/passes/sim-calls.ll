; With --mpg-sim a function gets a call of itself. It must be one that LLVM's verifier
; takes: with a line, also where the first instruction has none, and never of a function
; that answers interrupts or is a GPU's kernel. Nothing comes between a call in tail
; position that must stay one and its return; what an ifunc's resolver calls runs before
; there is thread-local storage. Flang's runtime allocates and frees the block of a descriptor. What
; reports the block of an invoke is no access of the program.
; REQUIRES: lab
; RUN: env MPG_PASS_OPTIONS=sim=on %opt -passes=mpg-sim,verify -S %s | FileCheck %s
; RUN: env MPG_PASS_OPTIONS=sim=on %opt -passes=mpg-sim,verify %s -o %t.bc
; RUN: %llc %t.bc -o /dev/null

; CHECK-LABEL: define i32 @withoutLine(
; CHECK: notail call i32 @withoutLine(i32 %a), !dbg [[LINE:![0-9]+]]
; CHECK-LABEL: define i32 @withoutDebug(
; CHECK: notail call i32 @withoutDebug(i32 %a){{$}}
; CHECK-LABEL: define x86_intrcc void @interrupt(
; CHECK-NOT: call x86_intrcc
; CHECK: store i32 1, ptr @count
; CHECK: ret void
; CHECK-LABEL: define amdgpu_kernel void @ofAmd(
; CHECK-NOT: call amdgpu_kernel
; CHECK-LABEL: define spir_kernel void @ofOpenCl(
; CHECK-NOT: call spir_kernel
; CHECK-LABEL: define ptr @mine(
; CHECK: %p = musttail call ptr @malloc(i64 %n)
; CHECK-NEXT: ret ptr %p
; CHECK-LABEL: define ptr @notTail(
; CHECK: call void @mpg_sim_allocated(
; CHECK-LABEL: define ptr @invoked(
; CHECK: invoke ptr @_Znwm(
; CHECK-NOT: @mpg_sim_{{cursor|room}}
; CHECK: call void @mpg_sim_allocated(
; CHECK-LABEL: define void @pointer(
; CHECK: call i32 @_FortranAPointerAllocate(ptr %p
; CHECK: call void @mpg_sim_described(ptr %p, i64
; CHECK: [[BLOCK:%.*]] = load ptr, ptr %p
; CHECK: call void @mpg_sim_freed(ptr [[BLOCK]])
; CHECK-NEXT: call i32 @_FortranAPointerDeallocate(ptr %p
; CHECK: call void @_FortranAPointerSetBounds(ptr %p
; CHECK-NOT: call void @mpg_sim_described
; CHECK-LABEL: define ptr @choose(
; CHECK-NOT: mpg_sim
; CHECK-LABEL: define i32 @early(
; CHECK-NOT: mpg_sim
; CHECK-LABEL: define i32 @late(
; CHECK: @mpg_sim_cursor
target triple = "x86_64-unknown-linux-gnu"
@count = global i32 0

define i32 @withoutLine(i32 %a) !dbg !4 {
  %b = add i32 %a, 1
  ret i32 %b, !dbg !6
}
define i32 @withoutDebug(i32 %a) {
  %b = add i32 %a, 1
  ret i32 %b
}
define x86_intrcc void @interrupt(ptr byval(i64) %frame) {
  store i32 1, ptr @count
  ret void
}
define amdgpu_kernel void @ofAmd(ptr %p) {
  store i32 1, ptr %p
  ret void
}
define spir_kernel void @ofOpenCl(ptr %p) {
  store i32 1, ptr %p
  ret void
}
declare ptr @malloc(i64) allockind("alloc,uninitialized") allocsize(0)
define ptr @mine(i64 %n) {
  store i32 1, ptr @count
  %p = musttail call ptr @malloc(i64 %n)
  ret ptr %p
}
define ptr @notTail(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}
declare ptr @_Znwm(i64)
declare i32 @__gxx_personality_v0(...)
define ptr @invoked(i64 %n) personality ptr @__gxx_personality_v0 {
  %p = invoke ptr @_Znwm(i64 %n) to label %done unwind label %thrown
done:
  ret ptr %p
thrown:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}
declare i32 @_FortranAPointerAllocate(ptr, i1, ptr, ptr, i32, ptr)
declare i32 @_FortranAPointerDeallocate(ptr, i1, ptr, ptr, i32)
declare void @_FortranAPointerSetBounds(ptr, i32, i64, i64)
define void @pointer(ptr %p) {
  %a = call i32 @_FortranAPointerAllocate(ptr %p, i1 false, ptr null, ptr null, i32 1, ptr null)
  %b = call i32 @_FortranAPointerDeallocate(ptr %p, i1 false, ptr null, ptr null, i32 1)
  call void @_FortranAPointerSetBounds(ptr %p, i32 0, i64 1, i64 2)
  ret void
}
@chosen = ifunc i32 (), ptr @choose
define ptr @choose() {
  %level = call i32 @early()
  ret ptr @late
}
define i32 @early() {
  %n = load i32, ptr @count
  ret i32 %n
}
define i32 @late() {
  %n = load i32, ptr @count
  ret i32 %n
}
; CHECK: [[LINE]] = !DILocation(line: 7,

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.c", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !5)
!4 = distinct !DISubprogram(name: "withoutLine", file: !1, line: 7, type: !3, unit: !0, spFlags: DISPFlagDefinition | DISPFlagOptimized)
!5 = !{null}
!6 = !DILocation(line: 8, scope: !4)
