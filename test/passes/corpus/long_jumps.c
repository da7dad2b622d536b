// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// setjmp and longjmp out of loops that are in the middle of an array.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf outer, inner;

__attribute__((noinline)) static void scan(const int *a, int n, int wanted) {
  for (int i = 0; i < n; ++i) {
    if (a[i] == wanted)
      longjmp(inner, i + 1);
    if (a[i] < 0)
      longjmp(outer, i + 1);
  }
}

static int find(const int *a, int n, int wanted) {
  int place = setjmp(inner);
  if (place)
    return place - 1;
  scan(a, n, wanted);
  return -1;
}

int main(void) {
  enum { count = 500 };
  int *a = malloc(count * sizeof(int));
  int *volatile found = calloc(count, sizeof(int));
  for (int i = 0; i < count; ++i)
    a[i] = i * 17 % 499;
  a[450] = -1;
  volatile int searched = 0, failures = 0;
  for (volatile int wanted = 0; wanted < count; ++wanted) {
    int at = setjmp(outer);
    if (at) {
      failures += at;
      continue;
    }
    found[wanted] = find(a, count, wanted);
    ++searched;
  }
  long sum = 0;
  for (int i = 0; i < count; ++i)
    sum += (long)found[i] * (i % 10);
  printf("%d %d %ld\n", searched, failures, sum);
  for (int i = 0; i < count; ++i)
    if (found[i] && a[found[i]] != i)
      return 1;
  return 0;
}
