// Triads of arrays larger than L2 and of small ones; the fourth array is
// initialised.
#include <stdio.h>
enum { large = 3 << 19, small = 1 << 14 };
double a[large], b[large], c[large], d[large];
double p[small], q[small], r[small];

__attribute__((noinline)) void triad(double *restrict to, const double *x,
                                     const double *y, long n) {
  for (long i = 0; i < n; ++i)
    to[i] = x[i] + 3 * y[i];
}

__attribute__((noinline)) void fill(double *to, double value, long n) {
  for (long i = 0; i < n; ++i)
    to[i] = value;
}

int main(void) {
  triad(a, b, c, large);
  fill(d, 2, large);
  triad(p, q, r, small);
  printf("%g %g %g\n", a[5], d[7], p[3]);
  return 0;
}
