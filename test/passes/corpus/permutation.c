// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Permutations in place: cycles, rotation, shuffle, next in order,
// transposition.
#include <stdio.h>
#include <stdlib.h>

static void swap(int *a, int *b) {
  int t = *a;
  *a = *b;
  *b = t;
}
static void reverse(int *first, int *last) {
  while (first < last)
    swap(first++, --last);
}
static void rotate(int *a, int n, int by) {
  reverse(a, a + by);
  reverse(a + by, a + n);
  reverse(a, a + n);
}
static int next(int *a, int n) {
  int i = n - 2;
  while (i >= 0 && a[i] >= a[i + 1])
    --i;
  if (i < 0)
    return 0;
  int j = n - 1;
  while (a[j] <= a[i])
    --j;
  swap(&a[i], &a[j]);
  reverse(a + i + 1, a + n);
  return 1;
}
static void follow(int *a, int *order, int n) {
  for (int i = 0; i < n; ++i)
    while (order[i] != i) {
      int j = order[i];
      swap(&a[i], &a[j]);
      swap(&order[i], &order[j]);
    }
}

int main(void) {
  enum { n = 1009 };
  int *a = malloc(n * sizeof(int)), *order = malloc(n * sizeof(int));
  for (int i = 0; i < n; ++i) {
    a[i] = i;
    order[i] = i * 10 % n;
  }
  follow(a, order, n);
  rotate(a, n, 300);
  unsigned state = 5;
  for (int i = n - 1; i > 0; --i) {
    state = state * 1664525u + 1013904223u;
    swap(&a[i], &a[(state >> 8) % (i + 1)]);
  }
  static int square[40][40];
  for (int i = 0; i < 1600; ++i)
    square[i / 40][i % 40] = a[i % n];
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < i; ++j)
      swap(&square[i][j], &square[j][i]);
  int small[7] = {0, 1, 2, 3, 4, 5, 6}, count = 1;
  while (next(small, 7))
    ++count;
  long mix = 0, sum = 0;
  for (int i = 0; i < n; ++i) {
    mix = (mix * 7 + a[i] + square[i % 40][i % 37]) % 1000000007;
    sum += a[i];
  }
  printf("%ld %d\n", mix, count);
  return sum == (long)n * (n - 1) / 2 && count == 5040 ? 0 : 1;
}
