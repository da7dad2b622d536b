/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A hint for the sector cache of A64FX: x is read once, y stays.
 */
#include <mpg/hints.h>

void axpy(long n, double a, MPG_STREAM const double *restrict x,
          double *restrict y) {
  for (long i = 0; i < n; i++)
    y[i] += a * x[i];
}
