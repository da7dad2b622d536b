// Every path out of the function must end the ways, and a program without libmpg
// must link and run as if there were no hint.
// REQUIRES: aarch64-linux-gnu-gcc, qemu-aarch64
// RUN: cd %t
// RUN: %hinted-c -O2 -S -emit-llvm -Xclang -disable-llvm-passes %s -o raw.ll
// RUN: %opt -passes=mpg-hints -S raw.ll -o out.ll && FileCheck %s --input-file=out.ll && FileCheck %s --check-prefix=WEAK --input-file=out.ll
// RUN: not grep 'call.*if_there' raw.ll
//
// Without libmpg, and with one that counts; at each level.
// DEFINE: %{level} = -O1
// DEFINE: %{run} = %hinted-c %{level} -static %s -o without && %run512 ./without | FileCheck %s --check-prefix=PRINTS && %hinted-c %{level} -c %s -o program.o && aarch64-linux-gnu-gcc -I%source/runtime/include -static program.o %inputs/sector_calls.c -o with && %run512 ./with 2>&1 | FileCheck %s --check-prefixes=PRINTS,CALLS
// RUN: %{run}
// REDEFINE: %{level} = -O2
// RUN: %{run}
// REDEFINE: %{level} = -Os
// RUN: %{run}
//
// Nothing asked, nothing called.
// RUN: %hinted-c -UMPG_HINTS -O2 -S %s -o plain.s && not grep mpg_sector plain.s
#include <mpg/hints.h>
#include <stdio.h>

// CHECK-DAG: @[[BOTH:mpg.ways[.0-9]*]] = private unnamed_addr constant [6 x i8] c"\03\01\FF\FF\0A\04"
// CHECK-DAG: @[[L2:mpg.ways[.0-9]*]] = private unnamed_addr constant [6 x i8] c"\FF\FF\FF\FF\00\0E"
// CHECK-DAG: @[[L1:mpg.ways[.0-9]*]] = private unnamed_addr constant [6 x i8] c"\04\00\FF\FF\FF\FF"
// WEAK-DAG: declare extern_weak i32 @mpg_sector_begin(ptr)
// WEAK-DAG: declare extern_weak void @mpg_sector_end(i32)

// One begin; each return has an end in front of it (at this stage there is one return).
// CHECK-LABEL: define {{.*}} @several(
// CHECK: call i32 @mpg_sector_begin.if_there(ptr @[[BOTH]])
// CHECK-NOT: mpg_sector_begin
// CHECK: call void @mpg_sector_end.if_there(
// CHECK-NEXT: ret i64
MPG_WAYS(l1=1) long several(long *a, long n); // one level here, one there
MPG_WAYS(l2=4) __attribute__((noinline)) long several(long *a, long n) {
  if (n == 1)
    return a[0];
  for (long i = 0; i < n; i++)
    if (a[i] == 7)
      return i;
  return -1;
}
// CHECK-LABEL: define {{.*}} @l2(
// CHECK: call i32 @mpg_sector_begin.if_there(ptr @[[L2]])
MPG_WAYS(l2=14) __attribute__((noinline)) long l2(long *a, long n) {
  return several(a, n) + 100;
}
// CHECK-LABEL: define {{.*}} @l1(
// CHECK: call i32 @mpg_sector_begin.if_there(ptr @[[L1]])
MPG_WAYS(l1=0) __attribute__((noinline)) void l1(long *a) { a[0]++; }
// CHECK-LABEL: define {{.*}} @none(
// CHECK-NOT: if_there
// CHECK: ret
__attribute__((noinline)) void none(long *a) { a[0]++; }

int main(void) {
  long a[] = {1, 2, 7};
  // CALLS: begin 3 1 255 255 10 4: 0
  // CALLS-NEXT: end 0
  long first = several(a, 1), second = several(a, 3), third = several(a, 2);
  // CALLS: begin 255 255 255 255 0 14: 0
  // CALLS-NEXT: begin 3 1 255 255 10 4: 1
  // CALLS-NEXT: end 1
  // CALLS-NEXT: end 0
  long fourth = l2(a, 3);
  // CALLS-NEXT: begin 4 0 255 255 255 255: 0
  // CALLS-NEXT: end 0
  l1(a);
  none(a);
  // PRINTS: 1 2 -1 102
  // CALLS-NOT: {{begin|end}}
  printf("%ld %ld %ld %ld\n", first, second, third, fourth);
  return 0;
}
