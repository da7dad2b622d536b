// Each loop that must stay serial: one remark with the reason, and no team,
// which would compute wrong results.
// RUN: %all-c -O2 -fno-math-errno -ffp-contract=off -S -emit-llvm %s -o %t.ll 2> %t.txt
// RUN: FileCheck %s --input-file=%t.txt --implicit-check-not=remark:
// RUN: FileCheck %s --input-file=%t.ll --check-prefix=CODE
// CODE-NOT: mpg_init
// With the vector functions of a library, sin(x) depends on where a vector begins.
// RUN: %all-c -O2 -fno-math-errno -ffp-contract=off -fveclib=libmvec -DSINE -S -emit-llvm %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=SINE
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#ifdef SINE
void sines(double *a, long m) {
  // SINE: remark: serial: it calls llvm.sin.f64, whose vector variant may give other results
  for (long i = 0; i < m; i++)
    a[i] = sin(i);
}
#else
void recurrence(double *a, long m) {
  // CHECK: remark: serial: one iteration uses what another one writes
  for (long i = 1; i < m; i++)
    a[i] = a[i - 1] * 0.5 + i;
}
void ahead(double *a, long m) {
  // CHECK: remark: serial: one iteration uses what another one writes
  for (long i = 0; i + 1 < m; i++)
    a[i] = a[i + 1] * 2;
}
double sum(double *a, long m) {
  double s = 0;
  // CHECK: remark: serial: an iteration uses a value that the one before it has computed
  for (long i = 0; i < m; i++) {
    a[i] = i * 0.1;
    s += a[i];
  }
  return s;
}
double lastOf(double *a, long m, double s) {
  // CHECK: remark: serial: a value that it computes is used after it
  for (long i = 0; i < m; i++) {
    s = i * 0.1;
    a[i] = s;
  }
  return s;
}
void scatter(double *a, int *ix, long m) {
  // CHECK: remark: serial: it stores to places that are not at a fixed distance
  for (long i = 0; i < m; i++)
    a[ix[i]] = i;
}
void gather(double *a, double *b, int *ix, long m) {
  // CHECK: remark: serial: it reads, at places only known at run time, memory that it may also write
  for (long i = 0; i < m; i++)
    a[i] = b[ix[i]];
}
void randoms(double *a, long m) {
  // CHECK: remark: serial: it calls rand, which may do more than compute its result
  for (long i = 0; i < m; i++)
    a[i] = rand();
}
void through(double *a, double (*f)(long), long m) {
  // CHECK: remark: serial: it calls a function through a pointer
  for (long i = 0; i < m; i++)
    a[i] = f(i);
}
// The C library also declares pthread_self "const", although its result depends on
// the thread.
__attribute__((const)) double unseen(long);
void unknown(double *a, long m) {
  // CHECK: remark: serial: it calls unseen, which is not seen here
  for (long i = 0; i < m; i++)
    a[i] = unseen(i);
}
void ordered(volatile double *a, long m) {
  // CHECK: remark: serial: it has volatile or atomic accesses
  for (long i = 0; i < m; i++)
    a[i] = i;
}
void until(double *a, long m, double stop) {
  // CHECK: remark: serial: it can be left in the middle
  for (long i = 0; i < m && a[i] != stop; i++)
    a[i] = i;
}
double few[1000];
void small(void) {
  // CHECK: remark: serial: it writes less than 4 MiB
#pragma clang loop unroll(disable)
  for (long i = 0; i < 1000; i++)
    few[i] = i;
}
double *returns(double *a, long m, jmp_buf where) {
  if (setjmp(where))
    return a;
  // CHECK: remark: serial: its function calls setjmp
  for (long i = 0; i < m; i++)
    a[i] = i;
  return 0;
}
void jumps(long *a, void *const *next, long m) {
  // CHECK: remark: serial: it uses the address of a label
  for (long i = 0; i < m; i++)
    a[i] = (char *)&&second - (char *)&&first;
  goto *next[a[0]];
first:
  a[1] = 7;
second:
  a[2] = 7;
}
double started[1 << 20];
__attribute__((constructor)) void early(void) {
  // CHECK: remark: serial: its function runs before main
  for (long i = 0; i < 1 << 20; i++)
    started[i] = i;
}
void region(double *a, long m) {
#pragma omp parallel
  // CHECK: remark: serial: its function is part of a parallel region
  for (long i = 0; i < m; i++)
    a[i] = i;
}
#endif
