; A tag that is put on with a GEP lets the optimiser take the tagged and the plain
; pointer for two objects: a store between the two is then not seen.
; RUN: split-file %s %t
; RUN: %opt -passes='mpg-tags,gvn' -S %t/or.ll | FileCheck %s --check-prefix=OR
; RUN: cat %t/or.ll %t/gep.ll > %t/wrong.ll
; RUN: %opt -passes='mpg-tags,gvn' -S %t/wrong.ll | FileCheck %s --check-prefix=GEP

; OR-LABEL: define i32 @twice
; OR: or i64 %{{.*}}, 1152921504606846976
; OR: store i32 2, ptr %p
; OR: %[[READ:.*]] = load i32, ptr
; OR: ret i32 %[[READ]]

; The test can see it: with a GEP the value of the other store is gone.
; GEP-LABEL: define i32 @twice
; GEP: getelementptr i8, ptr %p, i64 1152921504606846976
; GEP: store i32 2, ptr %p
; GEP: ret i32 1

;--- or.ll
target datalayout = "e-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128"
target triple = "aarch64-unknown-linux-gnu"

define i32 @twice(ptr %p) {
  store i32 1, ptr %p, !mmra !0
  store i32 2, ptr %p
  %read = load i32, ptr %p, !mmra !0
  ret i32 %read
}
!0 = !{!"mpg", !"10"}
!mpg.marks = !{}
;--- gep.ll
!mpg.options = !{!1}
!1 = !{!"test-place=gep"}
