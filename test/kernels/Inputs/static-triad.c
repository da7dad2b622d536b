/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program in C99 that calls two kernels and prints what they say. */
#include <mpg/kernels.h>
#include <stdio.h>

int main(void) {
  static double a[100], b[100], c[100];
  float table[4][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}}, out[2][2];
  int32_t indices[2] = {3, -1};
  struct mpg_embedding lookup = mpg_embedding_default(4, 2, 4, 4);
  int i;
  for (i = 0; i < 100; ++i) {
    b[i] = i + 2;
    c[i] = i;
  }
  if (mpg_stream_triad_f64(a, b, c, 3.0, 0, 100, NULL))
    return 1;
  printf("%s: a[99] is %.0f\n", mpg_kernel_variant(), a[99]);
  lookup.table = table;
  lookup.indices = indices;
  lookup.out = out;
  if (!mpg_embedding_lookup(&lookup, 0, 2))
    return 1;
  printf("index: %s\n", mpg_kernel_error());
  return 0;
}
