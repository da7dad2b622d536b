// Code with --mpg-sim sums up what it should not, or not what it could; or code
// without it changes.
// REQUIRES: lab
// RUN: env MPG_PASS_OPTIONS=sim=on %clang -O2 -fno-unroll-loops -fno-vectorize \
// RUN:   -fpass-plugin=%passes -S -emit-llvm %s -o - | FileCheck %s
// RUN: env MPG_PASS_OPTIONS=sim=on %clang -O2 -fno-unroll-loops -fno-vectorize \
// RUN:   -fpass-plugin=%passes -S -emit-llvm %s -o - | FileCheck %s --check-prefix=TEXT
// RUN: %clang -O2 -S -emit-llvm %s -o %t.plain
// RUN: env MPG_PASS_OPTIONS=sim=off %clang -O2 -fpass-plugin=%passes -S \
// RUN:   -emit-llvm %s -o %t.off
// RUN: diff %t.plain %t.off

// One record in front, nothing in the loop: kind 3 is a loop, here of two streams.
// CHECK-LABEL: @affine(
// CHECK: mpg_sim_cursor
// CHECK: store i64 216172782113783810, ptr
// CHECK: store ptr {{.*}}, ptr {{.*}}
// CHECK: ret void
// CHECK: load double
// CHECK-NOT: mpg_sim
// CHECK: {{^}}}
void affine(double *a, const double *b, long n) {
  for (long i = 0; i < n; ++i)
    a[i] = b[i];
}

// In the loop: where it ends depends on what it reads.
// CHECK-LABEL: @until(
// CHECK: load double
// CHECK: store i64 %{{.*}}, ptr %
// CHECK: {{^}}}
long until(const double *a, double limit) {
  long i = 0;
  while (a[i] < limit)
    ++i;
  return i;
}

// Before the call, because the callee's accesses come after.
// CHECK-LABEL: @before(
// CHECK: store i32 1, ptr %
// CHECK: call ptr @mpg_sim_room(i64 2)
// CHECK: call void @elsewhere()
void elsewhere(void);
void before(int *a) {
  *a = 1;
  elsewhere();
  *a = 2;
}

// One record: an address for three of them, and one for the fourth, two records'
// room for all.
// TEXT: B\09{{[0-9]+\\090\\090\\090\\0916\\091\\090\\090\\0940}}\0A
// CHECK-LABEL: @together(
// CHECK: icmp ugt i64 %{{.*}}, 65488
// CHECK: {{^}}}
double together(const double *a, const double *b) {
  return a[0] - a[2] * *b - a[5];
}

// CHECK: define internal void @mpg.sim.begin()
// CHECK: call void @mpg_sim_module(
