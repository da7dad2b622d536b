// Hints of variables outside of an OpenMP region count inside, however the
// variable gets there: by reference, by value, as a global.
// RUN: %hinted-c -O1 -fno-vectorize -fno-unroll-loops -fopenmp -S %s -o %t.s
// RUN: %count %t.s > %t.txt
// RUN: FileCheck %s --input-file=%t.txt
// With -g clang puts a function between.
// RUN: %hinted-c -O1 -g -fno-vectorize -fno-unroll-loops -fopenmp -S %s -o %t.g.s && %count %t.g.s > %t.g.txt
// RUN: FileCheck %s --input-file=%t.g.txt
// RUN: %hinted-c -O3 -fopenmp -S %s -o %t.3.s
// RUN: %count %t.3.s --function shared.omp_outlined --loops --tag 0x01 --at-least 1
// RUN: %count %t.3.s --function plain.omp_outlined --at-most 0
#include <mpg/hints.h>

// CHECK: shared.omp_outlined: {{.*}} in loops 1 of 2; 1 with 0x01
void shared(MPG_STREAM double *a, double *b, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    a[i] = b[i] + 1;
}
// CHECK: by_value.omp_outlined: {{.*}} in loops 1 of 2; 1 with 0x02
void by_value(double *a, MPG_SECTOR(2) double *b, long n) {
#pragma omp parallel for firstprivate(a, b)
  for (long i = 0; i < n; i++)
    a[i] = b[i] + 1;
}
MPG_SECTOR(3) double table[4096];
// CHECK: global.omp_outlined: {{.*}} in loops 1 of 2; 1 with 0x03
void global(double *a, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    a[i] = table[i] + 1;
}
// A function's hint covers the regions in its body, including a hint that forbids
// tags.
// CHECK: whole.omp_outlined: {{.*}} in loops 2 of 2; {{.*}} with 0x01
MPG_STREAM void whole(double *a, double *b, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    a[i] = b[i] + 1;
}
// CHECK: off.omp_outlined: 0 of
MPG_NO_HINTS void off(MPG_STREAM double *a, double *b, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    a[i] = b[i] + 1;
}
// CHECK: plain.omp_outlined: 0 of
void plain(double *a, double *b, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    a[i] = b[i] + 1;
}
