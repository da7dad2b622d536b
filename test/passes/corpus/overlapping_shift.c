// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores of one array a few elements apart, through two pointers.
#include <stdio.h>
#include <string.h>

enum { count = 1000 };

__attribute__((noinline)) static void addOne(int *a, const int *b, int n) {
  for (int i = 0; i < n; ++i)
    a[i] = b[i] + 1;
}

__attribute__((noinline)) static void recur(unsigned *a, const unsigned *b,
                                            int n) {
  for (int i = 4; i < n; ++i)
    a[i] = a[i - 4] + b[i];
}

__attribute__((noinline)) static int readBack(int *p, int *q, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    p[i] = i;
    q[i] = 2 * i;
    sum += p[i];
  }
  return sum;
}

int main(void) {
  static int x[count + 8];
  static unsigned u[count + 8], v[count + 8];
  for (int shift = 0; shift < 8; ++shift) {
    memset(x, 0, sizeof(x));
    addOne(x + shift, x, count);
    printf("up %d: %d %d\n", shift, x[count - 1], x[shift]);
    memset(x, 0, sizeof(x));
    addOne(x, x + shift, count);
    printf("down %d: %d\n", shift, x[0]);
  }
  memset(x, 0, sizeof(x));
  addOne(x + 1, x, count);
  if (x[count] != count)
    return 1;
  for (int i = 0; i < count + 8; ++i)
    u[i] = v[i] = i % 3;
  recur(u, v, count);
  recur(u + 2, u, count);
  int alias = readBack(x, x, count), apart = readBack(x, (int *)v, count);
  printf("%u %u %d %d\n", u[count - 1], u[count + 1], alias, apart);
  return alias == 2 * apart ? 0 : 2;
}
