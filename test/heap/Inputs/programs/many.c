/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * For C compilers: macros that grow to ten thousand statements, loops to
 * vectorise, a large switch, large initialisers.
 */
#include <stddef.h>

#define FOUR(M, i) M(i##0) M(i##1) M(i##2) M(i##3)
#define SIXTEEN(M, i) FOUR(M, i##0) FOUR(M, i##1) FOUR(M, i##2) FOUR(M, i##3)
#define MANY(M, i)                                                             \
  SIXTEEN(M, i##0) SIXTEEN(M, i##1) SIXTEEN(M, i##2) SIXTEEN(M, i##3)

#define FUNCTION(i)                                                            \
  static double work##i(double *restrict a, const double *b, size_t n) {       \
    double sum = 0x##i;                                                        \
    for (size_t k = 0; k < n; k++) {                                           \
      a[k] = a[k] * b[k] + 0x##i;                                              \
      sum += b[k] > 0x##i ? a[k] : b[n - k - 1];                               \
    }                                                                          \
    return sum;                                                                \
  }
MANY(FUNCTION, 1)

#define CASE(i)                                                                \
  case 0x##i:                                                                  \
    return work##i(a, b, n) * 3;
double choose(int which, double *a, const double *b, size_t n) {
  switch (which) { MANY(CASE, 1) }
  return 0;
}

#define ENTRY(i) {#i, work##i, {0x##i, -0x##i}},
const struct entry {
  const char *name;
  double (*work)(double *, const double *, size_t);
  int numbers[5];
} entries[] = {MANY(ENTRY, 1)};
