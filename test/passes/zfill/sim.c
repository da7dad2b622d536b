// With --mpg-sim a loop that zeroes lines ahead is summed up in front of its rounds, and
// mpgsim gets the lines. Other inline assembly in a loop is called each time, and that
// loop is not summed up. A machine without DC ZVA gets the records alone.
// REQUIRES: lab
// DEFINE: %{cc} = env MPG_PASS_OPTIONS=zfill=18,sim=on,verify=on %clang -O2 -fpass-plugin=%passes -S -emit-llvm -o - %s
// RUN: %{cc} --target=aarch64-linux-gnu -mcpu=a64fx | FileCheck %s
// RUN: %{cc} --target=x86_64-linux-gnu | FileCheck %s --check-prefix=OTHER
// OTHER: A\09z\091\09
// OTHER-NOT: write_register

// CHECK: A\09z\091\09
// CHECK-NOT: A\09z\09
// CHECK: C\09inline assembly\0A
// Kind and streams of a record for a loop: a line and four triads, then those without.
// CHECK-LABEL: define {{.*}} @triad(
// CHECK: store i64 216172782113783821
// CHECK: store i64 216172782113783820
// CHECK-NOT: store i64 21617278211378382
// CHECK: call void @llvm.write_register.i64(metadata
// CHECK-NOT: store i64 21617278211378382
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
