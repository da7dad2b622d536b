// A hint must not depend on how hard the compiler works: at each level, also when
// the function is inlined, the hinted accesses are tagged and the others are not.
// DEFINE: %{both} = sh -c '%hinted-c "$@" -S %s -o %t/a.s && %count %t/a.s --function kernel --loops --tag 0x01 --at-least 1 && %count %t/a.s --function caller --loops --tag 0x02 --at-least 1 && %count %t/a.s --function neighbour --at-most 0' sh
// RUN: %{both} -O1
// RUN: %{both} -O2
// RUN: %{both} -O3 -ffast-math -funroll-loops
// RUN: %{both} -Os
// RUN: %{both} -Oz
// RUN: %{both} -O2 -fPIC -g
// RUN: %{both} -O3 -mcpu=neoverse-v1
// RUN: %{both} -O3 -mcpu=generic -mno-outline-atomics
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
