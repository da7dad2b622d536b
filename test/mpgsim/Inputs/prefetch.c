// Reads every fourth line of an array, after a prefetch of it into LOCALITY.
#include <stdio.h>
enum { count = 1 << 21, step = 128 };
double a[count];

__attribute__((noinline)) double sum(const double *from) {
  double s = 0;
#pragma clang loop unroll(disable)
  for (long i = 0; i < count; i += step) {
#ifdef LOCALITY
    __builtin_prefetch(from + i, 0, LOCALITY);
#endif
    s = s * 0.5 + from[i];
  }
  return s;
}

int main(void) {
  printf("%g\n", sum(a));
  return 0;
}
