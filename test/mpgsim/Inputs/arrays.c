/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Arrays of each kind, in loops whose counts can be known by hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 1 << 16 };
double global[count];

__attribute__((noinline)) static double gather(const double *from,
                                               const int *index) {
  double sum = 0;
#pragma clang loop vectorize(disable) unroll(disable)
  for (int i = 0; i < count; ++i) /* gather */
    sum += from[index[i]];
  return sum;
}

__attribute__((noinline)) static void scale(double *to, const double *from) {
#pragma clang loop vectorize(disable) unroll(disable)
  for (int i = 0; i < count; ++i) /* scale */
    to[i] = 3 * from[i];
}

int main(void) {
  double *block = malloc(count * sizeof(*block)); /* block */
  int *index = malloc(count * sizeof(*index));
  if (!block || !index)
    return 1;
#pragma clang loop vectorize(disable) unroll(disable)
  for (int i = 0; i < count; ++i) { /* fill */
    global[i] = i;
    index[i] = (int)(i * 40503u % count);
  }
  scale(block, global);
  double sum = gather(block, index);
  memcpy(global, block, sizeof(global)); /* copy */
  printf("%g %g\n", sum, global[5]);
  free(index);
  free(block);
  return 0;
}
