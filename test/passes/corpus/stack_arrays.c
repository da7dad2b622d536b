// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays on the stack: alloca and variable length, in recursion and by pointer.
#include <alloca.h>
#include <stdio.h>
#include <string.h>

static long walk(int depth, const long *above, int n) {
  long row[n + 1];
  for (int i = 0; i <= n; ++i)
    row[i] = (i ? above[i - 1] : 0) + (i < n ? above[i] : 0);
  if (depth == 0) {
    long max = 0;
    for (int i = 0; i <= n; ++i)
      max = row[i] > max ? row[i] : max;
    return max;
  }
  return walk(depth - 1, row, n + 1);
}

__attribute__((noinline)) static int sumOf(const int *values, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i)
    sum += values[i];
  return sum;
}

static int chunks(int rounds) {
  int total = 0;
  int *last = NULL;
  for (int round = 1; round <= rounds; ++round) {
    int *chunk = alloca(round * sizeof(int));
    for (int i = 0; i < round; ++i)
      chunk[i] = i + (last ? last[i % (round - 1)] % 5 : 0);
    last = chunk;
    total += sumOf(chunk, round);
  }
  return total;
}

int main(void) {
  long one = 1;
  long max = walk(28, &one, 1);
  int total = chunks(60);
  char name[total % 50 + 20];
  memset(name, 'n', sizeof(name) - 1);
  name[sizeof(name) - 1] = 0;
  printf("%ld %d %zu\n", max, total, strlen(name));
  return max == 77558760 ? 0 : 1;
}
