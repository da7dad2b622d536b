/* Every macro of <mpg/hints.h>, in every place where one may stand. */
#include <mpg/hints.h>

struct record {
  MPG_STREAM double *data;
  MPG_KEEP MPG_NO_L2_HWPF double table[32];
};
MPG_SECTOR(3) double array[64];
MPG_HINT(sector=2, no_hwpf) double *pointer;

MPG_STREAM double wholeFunction(double *a) { return a[1]; }
MPG_NO_HINTS double noHints(MPG_STREAM double *a) { return a[1]; }
MPG_WAYS(l2=4, l1=1) double ways(MPG_WEAK_SWPF double *a, MPG_INJECT(3) double *b,
                                 MPG_NO_L1_HWPF double *c, MPG_NO_HWPF double *d,
                                 struct record *r, long n) {
  static MPG_STREAM double memory[32];
  MPG_NO_L2_HWPF double *local = b;
  for (long i = 0; i < n; i++) {
    __builtin_prefetch(a + i + 16);
    local[i] = c[i] + d[i] + r->data[i] + array[i & 63] + pointer[i];
    memory[i & 31] += r->table[i & 31];
  }
  return memory[n & 31] + wholeFunction(a) + noHints(b);
}
