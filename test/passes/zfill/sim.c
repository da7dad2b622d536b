// With --mpg-sim a loop that zeroes lines ahead is summed up as the one without, and
// mpgsim learns once for the loop that zero fill is not modelled. Other inline assembly
// in a loop is called each time, and that loop is not summed up.
// REQUIRES: lab
// RUN: env MPG_PASS_OPTIONS=zfill=18,sim=on,verify=on %clang --target=aarch64-linux-gnu -mcpu=a64fx -O2 -fpass-plugin=%passes -S -emit-llvm -o - %s | FileCheck %s

// CHECK: C\09DC ZVA (zero fill is not modelled)\0A
// CHECK-NOT: C\09DC ZVA
// CHECK: C\09inline assembly\0A
// Kind and streams of a record for a loop: without DC ZVA, and with it.
// CHECK-LABEL: define {{.*}} @triad(
// CHECK: store i64 [[LOOP:2161727821137838[0-9]+]]
// CHECK: store i64 [[LOOP]]
// CHECK: call void asm sideeffect "dc zva, $0"
void triad(double *restrict a, const double *b, const double *c, long n) {
  for (long i = 0; i < n; ++i)
    a[i] = b[i] + 3 * c[i];
}

// CHECK-LABEL: define {{.*}} @assembly(
// CHECK-NOT: store i64 2161727821137838
// CHECK: define
void assembly(double *a, long n) {
  for (long i = 0; i < n; ++i) {
    a[i] = 1;
    __asm__ volatile("nop" : : "r"(a) : "memory");
  }
}
