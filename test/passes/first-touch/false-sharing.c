// Counters of several threads in one cache line: reported, with the line's length of the
// processor that the code is for, until they are a line apart or the threads have their own.
// RUN: %remarks %s | %expect %s
// RUN: %remarks -x c++ %s | %expect %s
// RUN: %remarks -DAPART=16 %s | %expect %s --check-prefix=SILENT
// RUN: %remarks -DREDUCTION %s | %expect %s --check-prefix=SILENT
// RUN: %remarks -x c++ -DREDUCTION %s | %expect %s --check-prefix=SILENT
// 64 bytes are a line of most processors, and a quarter of A64FX's.
// RUN: %remarks --target=aarch64-linux-gnu -mcpu=a64fx -DAPART=16 %s | %expect %s
// RUN: %remarks --target=aarch64-linux-gnu -mcpu=a64fx -DAPART=64 %s | %expect %s --check-prefix=SILENT
// RUN: %same %s | FileCheck %s --check-prefix=SAME
// RUN: %same -DAPART=16 %s | FileCheck %s --check-prefix=SAME
// RUN: %same -DREDUCTION %s | FileCheck %s --check-prefix=SAME
// SAME: same: 20 runs
#ifdef __cplusplus
extern "C" {
#endif
int omp_get_max_threads(void);
int omp_get_thread_num(void);
int printf(const char *, ...);
#ifdef __cplusplus
}
#endif
#ifndef APART
#define APART 1
#endif

// The compiler cannot see its result, as if it were in another file.
static int times7(int i) { return 7 * i; }
static int (*volatile compute)(int) = times7;

#ifdef REDUCTION
__attribute__((noinline)) int count(int n) {
  int a = 0;
#pragma omp parallel for reduction(+ : a)
  for (int i = 0; i < n; ++i) {
    int x = compute(i);
    a += x;
  }
  return a;
}
#else
__attribute__((noinline)) int count(int n) {
  int a = 0;
  int array[omp_get_max_threads() * APART];
#pragma omp parallel
  {
    int id = omp_get_thread_num();
    array[id * APART] = 0;
#pragma omp for
    for (int i = 0; i < n; ++i) {
      int x = compute(i);
      // CHECK: count: calls 0, FalseSharing@[[#@LINE+1]]
      array[id * APART] += x;
    }
#pragma omp critical
    a += array[id * APART];
  }
  return a;
}
#endif

int main() { printf("%d\n", count(1000)); }
// CHECK: end
// SILENT: end
