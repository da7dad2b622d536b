// Each core has a private L1 cache, so the threads of a parallel region must set the
// ways themselves; a region that the function does not start sets none.
// RUN: %hinted-c -O1 -fopenmp -S -emit-llvm -Xclang -disable-llvm-passes %s -o %t.ll
// RUN: %opt -passes=mpg-hints -S %t.ll | FileCheck %s
#include <mpg/hints.h>

// CHECK-LABEL: define {{.*}} @with(
// CHECK: call i32 @mpg_sector_begin.if_there(ptr @[[WAYS:mpg.ways[.0-9]*]])
// CHECK: __kmpc_fork_call
// CHECK: call void @mpg_sector_end.if_there(
// CHECK-NEXT: ret void
MPG_WAYS(l1=2) void with(double *a, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    a[i] += 1;
}
// CHECK-LABEL: define internal void @with.omp_outlined
// CHECK: call i32 @mpg_sector_begin.if_there(ptr @[[WAYS]])
// CHECK: call void @mpg_sector_end.if_there(
// CHECK-NEXT: ret void

// CHECK-LABEL: define {{.*}} @without(
// CHECK-NOT: if_there
// CHECK-LABEL: define internal void @without.omp_outlined
// CHECK-NOT: if_there
// CHECK: ret void
void without(double *a, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    a[i] += 1;
}
