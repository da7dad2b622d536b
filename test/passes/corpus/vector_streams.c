// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams: a[i] = b[i] + s * c[i] over global, heap and local arrays.
#include <stdio.h>
#include <stdlib.h>

enum { count = 5003 };
static double globalA[count], globalB[count], globalC[count];

__attribute__((noinline)) static void triad(double *a, const double *b,
                                            const double *c, double s, int n) {
  for (int i = 0; i < n; ++i)
    a[i] = b[i] + s * c[i];
}

int main(void) {
  double *heap = malloc(3 * count * sizeof(double));
  double local[300];
  for (int i = 0; i < count; ++i) {
    globalB[i] = i;
    globalC[i] = 2 * i + 1;
    heap[count + i] = i % 17;
    heap[2 * count + i] = i % 5;
  }
  triad(globalA, globalB, globalC, 0.5, count);
  triad(heap, heap + count, heap + 2 * count, 3, count);
  triad(local, globalA, heap, 2, 300);
  double sum = 0;
  for (int i = 0; i < count; ++i)
    sum += globalA[i] - heap[i] + local[i % 300];
  printf("triad %.17g %.17g\n", sum, local[299]);
  for (int i = 0; i < count; ++i)
    if (globalA[i] != 2 * i + 0.5 || heap[i] != i % 17 + 3 * (i % 5))
      return 1;
  free(heap);
  return 0;
}
