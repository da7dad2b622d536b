// Each thread faults in its part of the array, and no other one: what the whole is
// for. Where it must stay serial at run time the first thread has all of them.
// RUN: %all-c -O2 -c %s -o %t.o && %link %t.o -o %t
// RUN: clang-22 -fopenmp -O2 %s -o %t.plain
// DEFINE: %{threads} = 2
// DEFINE: %{run} = env OMP_NUM_THREADS=%{threads} %t
// RUN: %{run} all 1 && not %{run} small 1 && %{run} small 0 && %{run} nested 0
// RUN: not env OMP_NUM_THREADS=2 %t.plain all 1
// REDEFINE: %{threads} = 3
// RUN: %{run} all 1 && %{run} rows 1 && %{run} bytes 1 && %{run} overlap 0
// REDEFINE: %{threads} = 8
// RUN: %{run} all 1 && %{run} rows 1 && %{run} bytes 1
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

// LLVM 19 comes without omp.h.
int omp_get_thread_num(void);
int omp_get_max_threads(void);

enum { n = 6 << 20, rowLength = 1000 };
static long before[64], after[64];
static void count(long *faults) {
#pragma omp parallel
  {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    faults[omp_get_thread_num()] = usage.ru_minflt;
  }
}
__attribute__((noinline)) static void init(double *a, long m) {
  for (long i = 0; i < m; i++)
    a[i] = i * 0.5;
}
__attribute__((noinline)) static void rows(double *a, long m, long length) {
  for (long i = 0; i < m; i++)
    for (long j = 0; j < length; j++)
      a[i * length + j] = i - j;
}
__attribute__((noinline)) static void bytes(double *a, size_t m) {
  memset(a, 1, m);
}
__attribute__((noinline)) static void both(double *a, double *b, long m) {
  for (long i = 0; i < m; i++) {
    a[i] = i;
    b[i] = -i;
  }
}
int main(int argc, char **argv) {
  (void)argc;
  const char *what = argv[1];
  int isShared = atoi(argv[2]), threads = omp_get_max_threads();
  double *a = mmap(0, n * sizeof *a, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(a, n * sizeof *a, MADV_NOHUGEPAGE);
  long size = strcmp(what, "small") ? n : (4 << 20) / 8 - 1;
  count(before);
  count(before);
  if (!strcmp(what, "rows"))
    rows(a, n / rowLength, rowLength);
  else if (!strcmp(what, "bytes"))
    bytes(a, n * sizeof *a);
  else if (!strcmp(what, "overlap"))
    both(a, a + 1, n - 1);
  else if (!strcmp(what, "nested")) {
#pragma omp parallel
#pragma omp master
    init(a, size);
  } else
    init(a, size);
  count(after);
  // The last row is short, and threads fault a little for themselves.
  double share = size * sizeof *a / 4096.0 / threads;
  int isEqual = 1;
  for (int i = 0; i < threads; i++) {
    double faults = after[i] - before[i];
    printf("thread %d: %.0f of %.0f\n", i, faults, share);
    if (faults < 0.95 * share - 4 || faults > 1.05 * share + 4)
      isEqual = 0;
  }
  int isFirst = after[0] - before[0] > 0.95 * share * threads;
  return isShared ? !isEqual : !isFirst;
}
