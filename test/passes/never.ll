; Marks on what may not be tagged (another pass may move metadata there) change
; nothing; next to them plain accesses are tagged.
; RUN: %opt -passes=mpg-tags -S %s | FileCheck %s
target datalayout = "e-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128"
target triple = "aarch64-unknown-linux-gnu"

; CHECK-LABEL: define void @marked_but_never
; CHECK-NOT: inttoptr
; CHECK-LABEL: define void @plain
define void @marked_but_never(ptr %p, ptr byval([8 x i64]) %q, ptr addrspace(1) %r) {
  %slot = alloca [4 x i64]
  %1 = load volatile i64, ptr %p, !mmra !0
  %2 = load atomic i64, ptr %p monotonic, align 8, !mmra !0
  store atomic i64 %1, ptr %p release, align 8, !mmra !0
  %3 = atomicrmw add ptr %p, i64 1 seq_cst, !mmra !0
  %4 = cmpxchg ptr %p, i64 %1, i64 %2 seq_cst seq_cst, !mmra !0
  fence seq_cst, !mmra !0
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %1, i1 false), !mmra !0
  call void @taken(ptr %p), !mmra !0
  %5 = load i64, ptr %q, !mmra !0
  %6 = load i64, ptr %slot, !mmra !0
  %7 = load i64, ptr addrspace(1) %r, !mmra !0
  call void @llvm.masked.store.v2i64.p1(<2 x i64> zeroinitializer, ptr addrspace(1) %r, i32 8, <2 x i1> <i1 1, i1 0>), !mmra !0
  %8 = load i64, ptr null, !mmra !0
  %9 = load i64, ptr @taken, !mmra !0
  ret void
}
; Each once, and only as an address: the stored value is the plain pointer.
; CHECK: %[[TAGGED:.*]] = inttoptr
; CHECK: load i64, ptr %[[TAGGED]]
; CHECK: store ptr %p, ptr %[[TAGGED]]
; CHECK: call {{.*}} @llvm.masked.load{{.*}}(ptr {{.*}}%[[TAGGED]]
; CHECK: call void @llvm.prefetch{{.*}}(ptr %[[TAGGED]]
; CHECK: %same = icmp eq ptr %p, %q
define void @plain(ptr %p, ptr %q, <2 x i1> %m) {
  %1 = load i64, ptr %p, !mmra !0
  store ptr %p, ptr %p, !mmra !0
  %2 = call <2 x i64> @llvm.masked.load.v2i64.p0(ptr %p, i32 8, <2 x i1> %m, <2 x i64> zeroinitializer), !mmra !0
  call void @llvm.prefetch.p0(ptr %p, i32 0, i32 3, i32 1), !mmra !0
  %same = icmp eq ptr %p, %q
  call void @llvm.assume(i1 %same)
  ret void
}
; Two marks on one access: nobody knows which is meant.
; CHECK-LABEL: define i64 @conflict
; CHECK-NOT: inttoptr
; CHECK: ret i64
define i64 @conflict(ptr %p) {
  %1 = load i64, ptr %p, !mmra !1
  ret i64 %1
}
; Marks of others stay, wrong ones of ours are no marks.
; CHECK-LABEL: define i64 @others
; CHECK-NEXT: load i64, ptr %p, align 8, !mmra ![[OTHERS:[0-9]+]]
; CHECK-NOT: inttoptr
; CHECK: ret i64
define i64 @others(ptr %p) {
  %1 = load i64, ptr %p, !mmra !2
  ret i64 %1
}
declare void @taken(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare <2 x i64> @llvm.masked.load.v2i64.p0(ptr, i32, <2 x i1>, <2 x i64>)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare void @llvm.assume(i1)
; CHECK: ![[OTHERS]] = !{!"amdgpu-as", !"global"}
!0 = !{!"mpg", !"10"}
!1 = !{!0, !{!"mpg", !"20"}}
!2 = !{!"amdgpu-as", !"global"}
!mpg.marks = !{}
