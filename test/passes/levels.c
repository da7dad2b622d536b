// A hint must not depend on how hard the compiler works: at each level, also when
// the function is inlined, the hinted accesses are tagged and the others are not.
// RUN: rm -rf %t && mkdir %t
// DEFINE: %{level} = -O1
// DEFINE: %{both} = %hinted-c %{level} -S %s -o %t/a.s && %count %t/a.s --function kernel --loops --tag 0x01 --at-least 1 && %count %t/a.s --function caller --loops --tag 0x02 --at-least 1 && %count %t/a.s --function neighbour --at-most 0
// RUN: %{both}
// REDEFINE: %{level} = -O2
// RUN: %{both}
// REDEFINE: %{level} = -O3 -ffast-math -funroll-loops
// RUN: %{both}
// REDEFINE: %{level} = -Os
// RUN: %{both}
// REDEFINE: %{level} = -Oz
// RUN: %{both}
// REDEFINE: %{level} = -O2 -fPIC -g
// RUN: %{both}
// REDEFINE: %{level} = -O3 -mcpu=neoverse-v1
// RUN: %{both}
// REDEFINE: %{level} = -O3 -mcpu=generic -mno-outline-atomics
// RUN: %{both}
#include <mpg/hints.h>

double kernel(MPG_STREAM const double *a, double *b, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}
static inline void inlined(MPG_SECTOR(2) double *a, long n) {
  for (long i = 0; i < n; i++)
    a[i] *= 3;
}
void caller(double *a, double *b, long n) {
  inlined(a, n);
  for (long i = 0; i < n; i++)
    b[i] += 1;
}
void neighbour(double *a, long n) {
  for (long i = 0; i < n; i++)
    a[i] *= 3;
}
