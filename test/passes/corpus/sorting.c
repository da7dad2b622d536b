// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorting: quick, merge, heap, radix and qsort with function pointers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 4000 };
typedef void Sort(int *, int);

static int compare(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}
static void library(int *a, int n) { qsort(a, n, sizeof(int), compare); }

static void quick(int *a, int n) {
  while (n > 1) {
    int pivot = a[n / 2], i = 0, j = n - 1;
    while (i <= j) {
      while (a[i] < pivot)
        ++i;
      while (a[j] > pivot)
        --j;
      if (i <= j) {
        int t = a[i];
        a[i++] = a[j];
        a[j--] = t;
      }
    }
    quick(a, j + 1);
    a += i;
    n -= i;
  }
}

static void merge(int *a, int n) {
  int *b = malloc(n * sizeof(int)), *from = a, *to = b;
  for (int width = 1; width < n; width *= 2) {
    for (int start = 0; start < n; start += 2 * width) {
      int middle = start + width < n ? start + width : n;
      int end = start + 2 * width < n ? start + 2 * width : n;
      for (int i = start, j = middle, k = start; k < end; ++k)
        to[k] = i < middle && (j >= end || from[i] <= from[j]) ? from[i++]
                                                               : from[j++];
    }
    int *t = from;
    from = to;
    to = t;
  }
  if (from != a)
    memcpy(a, from, n * sizeof(int));
  free(b);
}

static void sift(int *a, int i, int n) {
  for (int child; (child = 2 * i + 1) < n; i = child) {
    child += child + 1 < n && a[child + 1] > a[child];
    if (a[i] >= a[child])
      return;
    int t = a[i];
    a[i] = a[child];
    a[child] = t;
  }
}
static void heap(int *a, int n) {
  for (int i = n / 2; i-- > 0;)
    sift(a, i, n);
  for (int i = n - 1; i > 0; --i) {
    int t = a[0];
    a[0] = a[i];
    a[i] = t;
    sift(a, 0, i);
  }
}

static void radix(int *a, int n) {
  static int b[count];
  for (int shift = 0; shift < 24; shift += 8) {
    int starts[257] = {0};
    for (int i = 0; i < n; ++i)
      ++starts[(a[i] >> shift & 255) + 1];
    for (int i = 0; i < 256; ++i)
      starts[i + 1] += starts[i];
    for (int i = 0; i < n; ++i)
      b[starts[a[i] >> shift & 255]++] = a[i];
    memcpy(a, b, n * sizeof(int));
  }
}

int main(void) {
  Sort *sorts[] = {library, quick, merge, heap, radix};
  static int a[count], expected[count];
  for (int s = 0; s < 5; ++s) {
    unsigned state = 99;
    for (int i = 0; i < count; ++i) {
      state = state * 1103515245u + 12345u;
      a[i] = (int)(state >> 9 & 0x7fffff) % 9001;
    }
    sorts[s](a, count);
    if (s == 0)
      memcpy(expected, a, sizeof(a));
    unsigned long mix = 0;
    for (int i = 0; i < count; ++i)
      mix = mix * 131 + a[i];
    printf("%d: %lu\n", s, mix);
    if (memcmp(a, expected, sizeof(a)) != 0)
      return 1;
  }
  return 0;
}
