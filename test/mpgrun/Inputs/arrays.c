/* Blocks of the heap in a global, in locals and behind a helper. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
double *table;
static double *make(long n) {
  double *p = malloc(n * 8);
  memset(p, 1, n * 8);
  return p;
}
int main(void) {
  long n = 4 << 17;
  table = malloc(n * 8);
  memset(table, 1, n * 8);
  double *local;
  local = calloc(n, 8);
  local[5] = 1;
  double *first = make(n);
  double *second = make(n);
  printf("%g\n", table[7] + local[5] + first[1] + second[2]);
  return 0;
}
