/* Loops whose arrays overlap, with hints that differ between what is read and
 * what is written: a tag that is put on too early makes them print the wrong
 * numbers. Compiled apart from overlap.c, which knows that they overlap. */
#include <mpg/hints.h>

__attribute__((noinline)) void shift(MPG_SECTOR(1) int *a, MPG_SECTOR(2) int *b,
                                     int n) {
  for (int i = 0; i < n; i++)
    a[i] = b[i] + 1;
}

__attribute__((noinline)) void recur(MPG_STREAM int *a, int *p, int *b, int n) {
  for (int i = 4; i < n; i++)
    a[i] = p[i - 4] + b[i];
}

__attribute__((noinline)) int twice(MPG_STREAM int *p, int *q) {
  *p = 1;
  *q = 2;
  return *p;
}
