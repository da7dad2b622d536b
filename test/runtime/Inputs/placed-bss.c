/* An array that is not an allocation: MIB of .bss. */

#include "placed.h"

enum { n = MIB * (1L << 20) / 8 };
static double a[n], b[n];

int main(void) {
  placed_begin(0, 0);
  for (long i = 0; i < n; ++i)
    a[i] = (double)(i % 1000);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i)
    b[i] = 2 * a[i] + 1;
  placed_end();
  placed_where("a", a, n, 8, 0);
  placed_where("b", b, n, 8, 0);
  placed_result(b, n * 8);
  return 0;
}
