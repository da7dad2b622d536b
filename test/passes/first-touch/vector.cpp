// std::vector writes its elements in its constructor, with one thread. The remark names the
// line of the declaration, not one of the library's, and the compiler places the array.
// With an allocator whose allocate touches in parallel, or one that leaves the elements
// unwritten until a parallel loop writes them, there is no remark.
// RUN: %remarks-cxx %s | %expect %s
// RUN: %remarks-cxx -g %s | %expect %s
// RUN: %cxx-loaded -g -c %s -o %t.o -Rpass-missed=mpg 2>&1 | FileCheck %s --check-prefix=NAMES
// RUN: %remarks-cxx -DREPAIRED=1 %s | %expect %s --check-prefix=REPAIRED
// RUN: %remarks-cxx -DREPAIRED=2 %s | %expect %s --check-prefix=REPAIRED
// RUN: %same-args --args 600000 --args 4 --args 0 -- %cxx-program %s | FileCheck %s --check-prefix=SAME
// RUN: %same-args --args 600000 --args 4 --args 0 -- %cxx-program -DREPAIRED=1 %s | FileCheck %s --check-prefix=SAME
// RUN: %same-args --args 600000 --args 4 --args 0 -- %cxx-program -DREPAIRED=2 %s | FileCheck %s --check-prefix=SAME
// SAME: same: 60 runs
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#if REPAIRED == 1
// Touches one byte of each page, as the loops will share the elements out.
template <typename T> struct Allocator {
  using value_type = T;
  Allocator() = default;
  template <typename U> Allocator(const Allocator<U> &) {}
  T *allocate(size_t count) {
    size_t bytes = count * sizeof(T), pages = bytes >> 12;
    char *p = static_cast<char *>(malloc(bytes));
    if (!p)
      throw std::bad_alloc();
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < pages; ++i)
      p[i << 12] = 0;
    return reinterpret_cast<T *>(p);
  }
  void deallocate(T *p, size_t) { free(p); }
  bool operator==(const Allocator &) const { return true; }
  bool operator!=(const Allocator &) const { return false; }
};
template <typename T> using Vector = std::vector<T, Allocator<T>>;
#elif REPAIRED == 2
template <typename T> struct Allocator : std::allocator<T> {
  template <typename U> struct rebind { using other = Allocator<U>; };
  template <typename U> void construct(U *p) { ::new (p) U; }
  template <typename U, typename... A> void construct(U *p, A &&...a) {
    ::new (p) U(static_cast<A &&>(a)...);
  }
};
template <typename T> using Vector = std::vector<T, Allocator<T>>;
#else
template <typename T> using Vector = std::vector<T>;
#endif

// CHECK: zeros: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+2]]
extern "C" __attribute__((noinline)) double zeros(long n) {
  Vector<double> x(n);
#if REPAIRED == 2
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) x[i] = 0;
#endif
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) x[i] += i;
  return n ? x[n / 2] + x[n - 1] : 0;
}
#if REPAIRED != 2
// CHECK: ones: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+2]]
extern "C" __attribute__((noinline)) double ones(long n) {
  Vector<double> x(n, 1.5);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) x[i] += i;
  return n ? x[n / 2] + x[n - 1] : 0;
}
// A length of int, made of differences: negative for some numbers, and too large for an
// int for others.
struct Box { int low[3], high[3]; };
// CHECK: box: calls 1, FirstTouchInserted@[[#@LINE+4]], SerialFirstTouch@[[#@LINE+4]]
extern "C" __attribute__((noinline)) double box(const Box &b) {
  int n = (b.high[0] - b.low[0]) * (b.high[1] - b.low[1]) *
          (b.high[2] - b.low[2]);
  Vector<double> x(n);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i) x[i] += i;
  return n ? x[n / 2] + x[n - 1] : 0;
}
#else
double ones(long) { return 0; }
#endif
#if !REPAIRED
// The name is the user's, not that of a parameter of the library's.
// NAMES: vector.cpp:[[#@LINE+4]]:{{[0-9]+}}: remark: 'block' is initialised by one thread
// CHECK: kept: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
extern "C" __attribute__((noinline)) double kept(long n) {
  std::unique_ptr<double[]> block(new double[n]);
  std::fill_n(block.get(), n, 1.5);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) block[i] += i;
  return n ? block[n / 2] + block[n - 1] : 0;
}
#else
double kept(long) { return 0; }
#endif

int main(int argc, char **argv) {
  long n = atol(argv[1]);
  printf("%.1f %.1f %.1f\n", zeros(n), ones(n), kept(n));
#if REPAIRED != 2
  printf("%.1f\n", box({{1, 2, 3}, {int(n) + 1, 3, 4}}));
#endif
}
// CHECK: end
// REPAIRED: end
