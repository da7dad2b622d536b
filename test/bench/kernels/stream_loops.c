/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Copy and triad as anybody would write them. stream_kernels.py compiles this
 * file once for each compiler and set of options that libmpg is compared with;
 * NAME(x) gives each its own names. `restrict` and the constant of the third
 * function (the triad loop of the peer benchmarks) are help that libmpg's
 * functions do not get. */

#include <stddef.h>
#include <string.h>

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define NAME(x) JOIN(x, VARIANT)

void NAME(copy)(double *restrict a, const double *restrict b,
                const double *restrict c, double s, size_t n) {
  (void)c, (void)s;
  for (size_t i = 0; i < n; ++i)
    a[i] = b[i];
}

void NAME(triad)(double *restrict a, const double *restrict b,
                 const double *restrict c, double s, size_t n) {
  for (size_t i = 0; i < n; ++i)
    a[i] = b[i] + s * c[i];
}

void NAME(constant)(double *restrict a, const double *restrict b,
                    const double *restrict c, double s, size_t n) {
  (void)s;
  for (size_t i = 0; i < n; ++i)
    a[i] = b[i] + 3.0 * c[i];
}
