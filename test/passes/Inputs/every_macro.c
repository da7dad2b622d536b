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

/* First touch: on every Linux. */
void *malloc(unsigned long);
int posix_memalign(void **, unsigned long, unsigned long);
void keep(void *);
struct grid {
  MPG_FIRST_TOUCH_OFF double *cells;
  MPG_STREAM MPG_FIRST_TOUCH double *border;
};
MPG_FIRST_TOUCH double large[1024];
MPG_FIRST_TOUCH_OFF double *common;
MPG_FIRST_TOUCH_OFF static void *inner(unsigned long n) { return malloc(n); }
MPG_FIRST_TOUCH void allocate(struct grid *g, MPG_FIRST_TOUCH_OFF double *a,
                              unsigned long n) {
  MPG_FIRST_TOUCH_OFF double *local = malloc(n);
  MPG_FIRST_TOUCH void *aligned = 0;
  if (posix_memalign(&aligned, 64, n))
    return;
  g->cells = inner(n);
  g->border = malloc(n);
  common = malloc(n + 8);
  g->cells[0] = g->border[1] + a[1] + large[n];
  __builtin_memset(local, 0, n);
  keep(local);
  keep(aligned);
}

#ifdef STRINGS
int puts(const char *);
int strings(void) { return puts("one") + puts("two"); }
#endif
