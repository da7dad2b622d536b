// Whichever loops run in parallel, with any schedule and number of threads, the
// program prints the same as without: loops with every kind of dependence, called
// with arrays that overlap, with no iterations, with few, in parallel.
// DEFINE: %{flags} = -ffp-contract=off -Wno-unused-value -c %s
// DEFINE: %{expect} = sh -c '%clang -fopenmp "$@" %{flags} -o %t.plain.o && %link -no-pie %t.plain.o -o %t.plain && env OMP_NUM_THREADS=1 %t.plain > %t.expected' sh
// DEFINE: %{build} = sh -c '%all-c "$@" %{flags} -o %t.o 2> %t.remarks && %link -no-pie %t.o -o %t' sh
// DEFINE: %{compare} = sh -c '%t > %t.out && cmp %t.out %t.expected'
// RUN: %{expect} -O1 && env MPG_PARALLEL_ALL=0 %{build} -O1 && env OMP_NUM_THREADS=1 %{compare}
// RUN: %{expect} -O3 -g && env MPG_PARALLEL_ALL=0 %{build} -O3 -g
// RUN: FileCheck %s --input-file=%t.remarks
// CHECK-COUNT-40: remark: parallel
// RUN: env OMP_NUM_THREADS=2 %{compare}
// RUN: env OMP_NUM_THREADS=3 %{compare}
// RUN: env OMP_NUM_THREADS=8 %{compare}
// RUN: env MPG_PARALLEL_ALL=1000,3,24 %{build} -O3 -g && env OMP_NUM_THREADS=8 %{compare}
// A chunk of one iteration, and one that is larger than any loop.
// RUN: env MPG_PARALLEL_ALL=1,2,4096 %{build} -O3 -g && env OMP_NUM_THREADS=8 %{compare}
// RUN: env MPG_PARALLEL_ALL=2000000000,5,3000000000 %{build} -O3 -g && env OMP_NUM_THREADS=8 %{compare}
// clang-format off: a line for each loop
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))
#define SHOW(call)                                                             \
  (call, show(#call, a, 4 * n * sizeof *a), show(" b", b, 4 * n * sizeof *b))
enum { n = 1 << 18 }; // 4 * n doubles are 8 MiB
static double *fresh(long count) {
  double *p = malloc(count * sizeof *p);
  for (long i = 0; i < count; i++)
    p[i] = i % 13;
  return p;
}
KEEP static void show(const char *name, const void *p, size_t bytes) {
  uint64_t hash = 0;
  for (size_t i = 0; i < bytes / 8; i++)
    hash += ((const uint64_t *)p)[i] * (2 * i + 1);
  printf("%s %016lx\n", name, (unsigned long)hash);
}
KEEP void plain(double *a, long m) { for (long i = 0; i < m; i++) a[i] = i * 0.5; }
KEEP void plain32(double *a, int m) { for (int i = 0; i < m; i++) a[i] = i * 0.5; }
KEEP void plainu32(double *a, unsigned m) { for (unsigned i = 0; i < m; i++) a[i] = i * 0.5; }
KEEP void le(double *a, long m) { for (long i = 1; i <= m; i++) a[i - 1] = sqrt(i); }
KEEP void down(double *a, long m) { for (long i = m; i-- > 0;) a[i] = i * 3.0; }
KEEP void stride(double *a, long m, long s) { for (long i = 0; i < m; i++) a[i * s] = i; }
KEEP void pointer(double *a, double *end) { double v = 1; while (a != end) *a++ = v; }
KEEP long twoCounters(double *a, long m) { long j = 7; long i; for (i = 0; i < m; i++, j += 3) a[i] = j; return i * 5 + j; }
KEEP void rows(double *a, long r, long c) { for (long i = 0; i < r; i++) for (long j = 0; j < c; j++) a[i * c + j] = i + j * 0.25; }
KEEP void rows32(double *a, int r, int c) { for (int i = 0; i < r; i++) for (int j = 0; j < c; j++) a[i * c + j] = i + j * 0.25; }
KEEP void vla(long r, long c, double a[r][c]) { for (long i = 0; i < r; i++) for (long j = 0; j < c; j++) a[i][j] = i - j; }
KEEP void vlaz(long r, long c, double a[r][c]) { for (long i = 0; i < r; i++) { for (long j = 0; j < c; j++) a[i][j] = 0; a[i][i % c] = 1; } }
KEEP void cols(long r, long c, double a[r][c]) { for (long j = 0; j < c; j++) for (long i = 0; i < r; i++) a[i][j] = i - j; }
KEEP void rowsum(long r, long c, double a[r][c], double *s) { for (long i = 0; i < r; i++) { double t = 0; for (long j = 0; j < c; j++) { a[i][j] = i - j; t += a[i][j]; } s[i] = t; } }
KEEP void inrow(long r, long c, double a[r][c]) { for (long i = 0; i < r; i++) for (long j = 1; j < c; j++) a[i][j] = a[i][j - 1] + i; }
KEEP void triangle(long r, double *a) { for (long i = 0; i < r; i++) for (long j = 0; j <= i; j++) a[i * r + j] = i - j; }
KEEP void two(double *a, double *b, long m) { for (long i = 0; i < m; i++) { a[i] = i; b[i] = 2.0 * i; } }
KEEP void shift(double *a, double *b, long m) { for (long i = 1; i < m; i++) a[i] = b[i - 1] + 1; }
KEEP void copy(double *a, double *b, long m) { for (long i = 0; i < m; i++) a[i] = b[i]; }
KEEP void same(double *a, long m) { for (long i = 0; i < m; i++) a[i] = a[i] * 2 + 1; }
KEEP void recur(double *a, long m) { for (long i = 1; i < m; i++) a[i] = a[i - 1] * 0.5 + i; }
KEEP void ahead(double *a, long m) { for (long i = 0; i + 1 < m; i++) a[i] = a[i + 1] + 1; }
KEEP double sum(double *a, long m) { double s = 0; for (long i = 0; i < m; i++) { a[i] = i * 0.1; s += a[i]; } return s; }
KEEP double lastOf(double *a, long m) { double s = 0; for (long i = 0; i < m; i++) { s = i * 0.1; a[i] = s; } return s; }
KEEP void chain(double *a, long m) { double s = 1; for (long i = 0; i < m; i++) { a[i] = s; s *= 0.999; } }
KEEP void overwrite(double *a, long m) { for (long i = 0; i < m; i++) a[i / 2] = i; }
KEEP void modulo(double *a, long m) { for (long i = 0; i < m; i++) a[i % 1000] = i; }
KEEP void overlapping(char *a, long m) { for (long i = 0; i < m; i++) { double v = i; memcpy(a + 4 * i, &v, 8); } }
KEEP void scatter(double *a, int *ix, long m) { for (long i = 0; i < m; i++) a[ix[i]] = i; }
KEEP void gather(double *restrict a, double *restrict b, int *restrict ix, long m) { for (long i = 0; i < m; i++) a[i] = b[ix[i]]; }
KEEP void gatherMaybe(double *a, double *b, int *ix, long m) { for (long i = 0; i < m; i++) a[i] = b[ix[i]]; }
static const double table[4] = {1, 2, 3, 5};
KEEP void lookup(double *a, long m) { for (long i = 0; i < m; i++) a[i] = table[i * i & 3]; }
static int calls;
KEEP double effect(long i) { calls++; return i; }
KEEP void withCall(double *a, long m) { for (long i = 0; i < m; i++) a[i] = effect(i); }
KEEP void withRand(double *a, long m) { for (long i = 0; i < m; i++) a[i] = rand(); }
KEEP double pure(long i) { return i * 0.125 + 1; }
KEEP void withPure(double *a, long m) { for (long i = 0; i < m; i++) a[i] = pure(i); }
KEEP void withSine(double *a, long m) { for (long i = 0; i < m; i++) a[i] = sin(i); }
KEEP void withVolatile(volatile double *a, long m) { for (long i = 0; i < m; i++) a[i] = i; }
KEEP void withBreak(double *a, long m, double stop) { for (long i = 0; i < m; i++) { if (a[i] == stop) break; a[i] = i; } }
KEEP void withIf(double *a, long m, long k) { for (long i = 0; i < m; i++) if (i >= k) a[i - k] = i; else a[m - i] = -i; }
KEEP void only(double *a, double *b, long m, long k) { for (long i = 0; i < m; i++) if (i >= k) a[i - k] = b[i]; }
KEEP void delayed(double *a, double *b, long m, long k) { for (long i = 0; i < m; i++) if (i >= k) b[i] = a[i - k] + 1; }
KEEP void halves(double *a, long m) { for (long i = 0; i < m; i++) { a[i] = i; a[i + m] = -i; } }
KEEP void halvesRead(double *a, long m, long k) { for (long i = 0; i < m; i++) a[i] = a[i + k]; }
KEEP void evenOdd(double *a, long m) { for (long i = 0; i < m; i++) { a[2 * i] = i; a[2 * i + 1] = -i; } }
KEEP void evenToOdd(double *a, long m) { for (long i = 0; i < m; i++) a[2 * i] = a[2 * i + 2]; }
KEEP void stepTwo(double *a, long m) { for (long i = 0; i < m; i += 2) a[i] = i; }
KEEP void stepK(double *a, long m, long k) { for (long i = 0; i < m; i += k) a[i] = i; }
struct point { double x, y, z; char tag; };
KEEP void points(struct point *p, long m) { for (long i = 0; i < m; i++) { p[i].x = i; p[i].y = 2; p[i].z = -i; p[i].tag = 'a' + i % 20; } }
KEEP void structCopy(struct point *p, const struct point *q, long m) { for (long i = 0; i < m; i++) p[i] = *q; }
KEEP void clear(double *a, long m) { for (long i = 0; i < m; i++) a[i] = 0; }
KEEP void set(char *a, int v, size_t m) { memset(a, v, m); }
static _Thread_local double offset = 0.25;
KEEP void threadLocal(double *a, long m) { for (long i = 0; i < m; i++) a[i] = offset + i; }
static _Thread_local double mine[2 * n];
KEEP void threadLocalArray(long m) { for (long i = 0; i < m; i++) mine[i] = i; }
static double global[8 * n];
KEEP void globals(void) { for (long i = 0; i < 4 * n; i++) global[i] = i; }
KEEP void pointers(double **a, long r, long c) { for (long i = 0; i < r; i++) for (long j = 0; j < c; j++) a[i][j] = i * j; }
KEEP void chars(unsigned char *a, unsigned char m8, long m) { for (long i = 0; i < m; i++) a[i] = (unsigned char)(i * m8); }
KEEP void wrap8(double *a, long m) { unsigned char k = 3; for (long i = 0; i < m; i++) { a[i] = k; k += 7; } }
KEEP void floatCounter(double *a, long m) { float f = 0; for (long i = 0; i < m; i++, f += 1) a[i] = f; }
KEEP void atomicOne(double *a, long m) { static _Atomic int c; for (long i = 0; i < m; i++) { a[i] = i; c++; } }
KEEP void inParallel(double *a, long m) {
#pragma omp parallel num_threads(2)
  plain(a + (m / 2) * (0), m);
}
int main(void) {
  double *a = fresh(4 * n), *b = fresh(4 * n);
  int *ix = malloc(sizeof *ix * 2 * n);
  for (int i = 0; i < 2 * n; i++)
    ix[i] = (int)((i * 7919L) % (n / 2));
  SHOW(plain(a, 4 * n - 3)); SHOW(plain(a, 0)); SHOW(plain(a, -5)); SHOW(plain(a, 5));
  SHOW(plain32(a, 4 * n)); SHOW(plain32(a, -1)); SHOW(plainu32(a, 4 * n));
  SHOW(le(a, 4 * n - 1)); SHOW(down(a, 4 * n)); SHOW(down(a, 0));
  SHOW(stride(a, n, 4)); SHOW(stride(a + 4 * n - 1, n, -3)); SHOW(stride(a, 4 * n, 0)); SHOW(stride(a, n, 1));
  SHOW(pointer(a + 1, a + 4 * n)); SHOW(pointer(a, a));
  SHOW(printf("%ld\n", twoCounters(a, 4 * n)));
  SHOW(rows(a, 1000, 1000)); SHOW(rows(a, 1000, 0)); SHOW(rows(a, 0, 1000)); SHOW(rows(a, 4 * n, 1)); SHOW(rows(a, 1, 4 * n)); SHOW(rows(a, -1, -1));
  SHOW(rows32(a, 1000, 1000)); SHOW(rows32(a, 1 << 18, 3));
  SHOW(vla(1000, 1000, (void *)a)); SHOW(vlaz(1000, 999, (void *)a)); SHOW(cols(1000, 999, (void *)a));
  SHOW(rowsum(1000, 1000, (void *)a, b)); SHOW(rowsum(1000, 1000, (void *)a, a)); SHOW(rowsum(1000, 1000, (void *)a, a + 999 * 1000));
  SHOW(inrow(1000, 1000, (void *)a)); SHOW(triangle(1000, a));
  SHOW(two(a, b, 4 * n)); SHOW(two(a, a + 1, 4 * n - 1)); SHOW(two(a, a + 2 * n, 2 * n)); SHOW(two(a, a + 2 * n - 1, 2 * n)); SHOW(two(a, a, n));
  SHOW(shift(a, b, 4 * n)); SHOW(shift(a, a, 4 * n)); SHOW(shift(b, a + 1, 4 * n - 1)); SHOW(shift(a, a + 2 * n, 2 * n)); SHOW(shift(a, a + 2 * n - 1, 2 * n + 1)); SHOW(shift(a + 2 * n, a, 2 * n)); SHOW(shift(a + 2 * n - 1, a, 2 * n + 1)); SHOW(shift(a + 2 * n - 2, a, 2 * n + 1));
  SHOW(copy(a, b + 1, 4 * n - 1)); SHOW(copy(a + 1, a, 4 * n - 1)); SHOW(copy(a, a + 1, 4 * n - 1)); SHOW(copy(a, a, 4 * n));
  SHOW(same(a, 4 * n)); SHOW(recur(a, 4 * n)); SHOW(ahead(a, 4 * n));
  SHOW(printf("%.17g\n", sum(a, 4 * n))); SHOW(printf("%.17g\n", lastOf(a, 4 * n))); SHOW(chain(a, 4 * n));
  SHOW(overwrite(a, 4 * n)); SHOW(modulo(a, 4 * n)); SHOW(overlapping((char *)a, 4 * n));
  SHOW(scatter(a, ix, n)); SHOW(gather(a, b, ix, 2 * n)); SHOW(gatherMaybe(a, b, ix, n)); SHOW(gatherMaybe(a, a, ix, n)); SHOW(lookup(a, 4 * n));
  SHOW(withCall(a, n)); SHOW(withRand(a, n)); SHOW(withPure(a, 4 * n)); SHOW(withSine(a, n)); SHOW(withVolatile(a, n));
  SHOW(withBreak(a, 4 * n, 3)); SHOW(withIf(a, 4 * n, 100)); SHOW(withIf(a, 4 * n, 4 * n));
  SHOW(only(a, b, 4 * n, 250000)); SHOW(only(a, a, 4 * n, 250000)); SHOW(only(a, a + 250000, 3 * n, 250000)); 
  SHOW(only(global, a, 4 * n, 500000)); SHOW(only(global + 7, global, 3 * n, 500000)); SHOW(only(global, global + 1, 3 * n, 750000));
  // At a low address: a[-k] is below address 0.
  SHOW(delayed(global, global, 8 * n, 600000)); SHOW(delayed(global, a, 4 * n, 600000));
  show("global", global, sizeof global);
  SHOW(halves(a, 2 * n)); SHOW(halves(a, 1)); SHOW(halvesRead(a, 2 * n, 2 * n)); SHOW(halvesRead(a, 2 * n, 1)); SHOW(halvesRead(a + 2 * n, 2 * n, -1)); SHOW(halvesRead(a, 2 * n, 0));
  SHOW(evenOdd(a, 2 * n)); SHOW(evenToOdd(a, 2 * n - 1)); SHOW(stepTwo(a, 4 * n)); SHOW(stepK(a, 4 * n, 3)); SHOW(stepK(a, 4 * n, 5 * n)); 
  SHOW(points((void *)a, n)); struct point q = {1, 2, 3, 'q'}; SHOW(structCopy((void *)a, &q, n));
  struct point *in = (struct point *)a + n / 2; *in = q; SHOW(structCopy((void *)a, in, n));
  SHOW(clear(a, 3 * n)); SHOW(set((char *)a + 3, 77, 30 * n + 5)); SHOW(set((char *)a, 1, 0)); SHOW(set((char *)a, 3, 4 << 20)); SHOW(set((char *)a, 4, (4 << 20) - 1));
  SHOW(threadLocal(a, 4 * n)); threadLocalArray(2 * n); show("mine", mine, sizeof mine);
  globals(); show("global", global, sizeof global);
  double *row[4]; for (int i = 0; i < 4; i++) row[i] = a + i * (n - 1);
  SHOW(pointers(row, 4, n)); SHOW(chars((void *)a, 7, 32 * n)); SHOW(wrap8(a, 4 * n)); SHOW(floatCounter(a, 4 * n)); SHOW(atomicOne(a, n)); SHOW(inParallel(a, n));
  printf("%d\n", calls);
}
