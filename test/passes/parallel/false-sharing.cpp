// One line of a template is one place in the source: one remark for all types it
// is used with, and members of C++ classes are found like plain arrays.
// RUN: %hinted-cxx -O2 -fopenmp -g -Rpass-missed=mpg -c %s -o %t.o 2>&1 | grep remark: | sort -t: -k2n > %t.remarks
// RUN: FileCheck %s --implicit-check-not=remark: --input-file=%t.remarks
extern "C" int omp_get_thread_num();
int compute(int);

template <typename T> void count(T *counts, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    // CHECK: :[[#@LINE+1]]:{{.*}} counts that are {{[48]}} bytes apart from thread to thread
    counts[omp_get_thread_num()] += compute(i);
}
template void count(int *, int);
template void count(long *, int);
template void count(double *, int);

struct Histogram {
  long *bins;
  // CHECK: :[[#@LINE+1]]:{{.*}} that are 8 bytes apart from thread to thread
  void add(long x) { bins[omp_get_thread_num()] += x; }
};
void fill(Histogram &h, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    h.add(compute(i));
}
// The repaired class: each thread's element begins a line.
struct alignas(256) Bin {
  long value;
};
struct PaddedHistogram {
  Bin *bins;
  void add(long x) { bins[omp_get_thread_num()].value += x; }
};
void fill(PaddedHistogram &h, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    h.add(compute(i));
}
