// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointers compared, subtracted, hashed and stored, beside accesses through
// them.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct Span {
  const int *begin, *end;
};

static long getLength(struct Span span) { return span.end - span.begin; }

static const int *lowerBound(struct Span span, int wanted) {
  while (span.begin != span.end) {
    const int *middle = span.begin + getLength(span) / 2;
    if (*middle < wanted)
      span.begin = middle + 1;
    else
      span.end = middle;
  }
  return span.begin;
}

static int contains(struct Span span, const int *p) {
  return p >= span.begin && p < span.end;
}

// The address of each element is stored, and found again by its value.
static int sameAddresses(int *a, int n) {
  int **addresses = malloc(n * sizeof(*addresses));
  int same = 0;
  for (int i = 0; i < n; ++i) {
    a[i] += 1;
    addresses[i] = &a[i];
  }
  for (int i = 0; i < n; ++i)
    same += addresses[i] == &a[i] && (uintptr_t)addresses[i] >> 56 == 0;
  free(addresses);
  return same;
}

int main(void) {
  enum { n = 3000 };
  int *a = malloc(n * sizeof(int)), other[4] = {0};
  for (int i = 0; i < n; ++i)
    a[i] = 3 * i;
  struct Span all = {a, a + n};
  long places = 0;
  for (int wanted = 0; wanted < 9000; wanted += 7)
    places += lowerBound(all, wanted) - a;
  int inside = 0, *p = a + n, differences = 0;
  while (p-- != a) {
    inside += contains(all, p) && !contains(all, other);
    differences += (int)(((char *)p - (char *)a) / 4 == p - a);
    *p -= 1;
  }
  int same = sameAddresses(a, n);
  long sum = 0;
  for (const int *q = a; q < a + n; q += 2)
    sum += *q;
  printf("%ld %d %d %d %ld\n", places, inside, differences, same, sum);
  return inside == n && differences == n && same == n ? 0 : 1;
}
