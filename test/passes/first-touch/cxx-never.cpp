// Memory that C++ code allocates or fills in ways that prove nothing: no call. Constructors
// that throw half-way, buffers that a vector outgrows, memory from the program's own
// allocator.
// RUN: %remarks-cxx %s | FileCheck %s --implicit-check-not="calls 1" --implicit-check-not=Inserted
// RUN: %remarks-mode parallel-init %cxx-loaded %s | FileCheck %s --implicit-check-not="calls 1" --implicit-check-not=Inserted
// RUN: %same-args --args "600000 5" --args "600000 599999" --args "4 9" -- %cxx-program %s | FileCheck %s --check-prefix=SAME
// CHECK: end
// SAME: same: 60 runs
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <vector>
#define CASE extern "C" __attribute__((noinline)) double

// The bad-th constructor throws: the ones before it have run, the ones behind it must not.
static long made, bad, destroyed;
struct Checked {
  double x;
  Checked() : x(made) {
    if (made++ == bad)
      throw std::runtime_error("bad");
  }
  ~Checked() { ++destroyed; }
};
CASE throwing(long n, long which) {
  made = destroyed = 0;
  bad = which;
  try {
    Checked *a = new Checked[n];
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) a[i].x += 1;
    double last = a[n - 1].x;
    delete[] a;
    return last + destroyed;
  } catch (const std::runtime_error &) {
    return -1 - made - destroyed;
  }
}
// The new buffer receives the old one's elements: all that is known is that it was
// used.
CASE pushed(long n, long) {
  std::vector<double> x;
  for (long i = 0; i < n; ++i) x.push_back(i);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) x[i] += 1;
  return x[n - 1];
}
// Reserved for n, filled with a part.
CASE reserved(long n, long part) {
  std::vector<double> x;
  x.reserve(n);
  long m = part < n ? part : n;
  for (long i = 0; i < m; ++i) x.push_back(i);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < m; ++i) x[i] += 1;
  return x[m - 1];
}
// Built where other objects were.
alignas(16) static char buffer[16 << 20];
CASE placed(long n, long) {
  for (long i = 0; i < 16 << 20; i += 64) buffer[i] = i;
  double *a = new (buffer) double[n];
  for (long i = 0; i < n; ++i) a[i] = i;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[i] += 1;
  return a[n - 1];
}
// Hands the same memory out again and again, and has touched it itself.
static void *kept;
template <typename T> struct Pool {
  using value_type = T;
  Pool() = default;
  template <typename U> Pool(const Pool<U> &) {}
  __attribute__((noinline)) T *allocate(size_t count) {
    if (!kept) {
      kept = malloc(count * sizeof(T));
      for (size_t i = 0; i < count * sizeof(T); i += 4096)
        static_cast<char *>(kept)[i] = 1;
    }
    return static_cast<T *>(kept);
  }
  void deallocate(T *, size_t) {}
  bool operator==(const Pool &) const { return true; }
  bool operator!=(const Pool &) const { return false; }
};
CASE pooled(long n, long) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    std::vector<double, Pool<double>> x(n, k);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) x[i] += 1;
    sum += x[n - 1];
  }
  return sum;
}

int main(int argc, char **argv) {
  long n = atol(argv[1]), part = atol(argv[2]);
  printf("%.1f %.1f %.1f %.1f %.1f\n", throwing(n, part), pushed(n, part),
         reserved(n, part), placed(n, part), pooled(n, part));
}
