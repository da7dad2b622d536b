// A program that sets the rounding of its first thread gets the same numbers: the
// loop stays serial, unless it only copies.
// RUN: %all-c -O2 -S -emit-llvm %s -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=remark:
// RUN: %all-c -O2 -DDEFAULT -S -emit-llvm %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEFAULT --implicit-check-not=remark:
#include <fenv.h>

// CHECK: remark: serial: the program sets or reads the floating-point environment
// CHECK: remark: parallel
// DEFAULT: remark: parallel
// DEFAULT: remark: parallel
void thirds(double *a, long m) {
  for (long i = 0; i < m; i++)
    a[i] = i / 3.0;
}
void copies(double *restrict a, const double *restrict b, long m) {
  for (long i = 0; i < m; i++)
    a[i] = i & 1 ? b[i] : 7;
}
#ifndef DEFAULT
int main(void) { return fesetround(FE_UPWARD); }
#endif
