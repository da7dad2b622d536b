; A module for another target that has hints all the same (its macros were not
; empty): they are erased, nothing is tagged, and one remark says why.
; RUN: sed 's/TRIPLE/x86_64-unknown-linux-gnu/' %s > %t.ll
; RUN: %opt -passes='mpg-hints,mpg-tags' -pass-remarks-missed=mpg -S %t.ll -o %t.out.ll 2> %t.remarks
; RUN: FileCheck %s --input-file=%t.out.ll
; RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK --implicit-check-not=remark:
; RUN: sed 's/TRIPLE/arm64-apple-macosx14/' %s > %t.ll
; RUN: %opt -passes='mpg-hints,mpg-tags' -pass-remarks-missed=mpg -S %t.ll -o %t.out.ll 2> %t.remarks
; RUN: FileCheck %s --input-file=%t.out.ll
; RUN: FileCheck %s --input-file=%t.remarks --check-prefix=REMARK --implicit-check-not=remark:
; RUN: sed 's/TRIPLE/aarch64_be-unknown-linux-gnu/' %s > %t.ll
; RUN: %opt -passes='mpg-hints,mpg-tags' -pass-remarks-missed=mpg -S %t.ll -o %t.out.ll 2> %t.remarks
; RUN: FileCheck %s --input-file=%t.out.ll
; RUN: sed 's/TRIPLE/aarch64-unknown-linux-gnu/' %s > %t.ll
; RUN: %opt -passes='mpg-hints,mpg-tags' -S %t.ll | FileCheck %s --check-prefix=TAGGED
; REMARK: remark: {{.*}}no hint is applied in read: only AArch64 Linux has tags
; CHECK-LABEL: define i64 @read
; CHECK-NOT: annotation
; CHECK-NOT: inttoptr
; CHECK: ret i64
; CHECK-NOT: note.mpg
; TAGGED-LABEL: define i64 @read
; TAGGED: inttoptr
target triple = "TRIPLE"

@hint = private constant [20 x i8] c"mpg:1:hint:sector=1\00"
@file = private constant [4 x i8] c"a.c\00"

define i64 @read(ptr %a) {
  %slot = alloca ptr
  call void @llvm.var.annotation.p0.p0(ptr %slot, ptr @hint, ptr @file, i32 3, ptr null)
  store ptr %a, ptr %slot
  %1 = load ptr, ptr %slot
  %2 = load i64, ptr %1
  ret i64 %2
}
define void @second() {
  ret void
}
declare void @llvm.var.annotation.p0.p0(ptr, ptr, ptr, i32, ptr)
