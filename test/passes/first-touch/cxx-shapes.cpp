// C++ has more ways to allocate, to fill and to hand on an array than C: new, std::fill,
// unique_ptr, members, captures. Each is recognised, and the remark has the user's line.
// RUN: %remarks-cxx %s | %expect %s
// RUN: %remarks-cxx -O3 -g %s | %expect %s
// RUN: %same-args --args 600000 --args 4 --args 0 -- %cxx-program %s | FileCheck %s --check-prefix=SAME
// SAME: same: 60 runs
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>
#define CASE extern "C" __attribute__((noinline)) double

// CHECK: with_new: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE with_new(long n) {
  double *a = new double[n];
  for (long i = 0; i < n; ++i) a[i] = i;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[i] += 1;
  double last = n ? a[n - 1] : 0;
  delete[] a;
  return last;
}
// CHECK: zeroed_new: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+2]]
CASE zeroed_new(long n) {
  double *a = new double[n]();
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[i] += 1;
  double last = n ? a[n - 1] : 0;
  delete[] a;
  return last;
}
// CHECK: filled: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
CASE filled(long n) {
  std::unique_ptr<double[]> a(new double[n]);
  std::fill(a.get(), a.get() + n, 2.5);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) a[i] += 1;
  return n ? a[n - 1] : 0;
}
// CHECK: captured: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+2]]
CASE captured(long n) {
  std::vector<double> x(n, 1.0);
  auto add = [&](double y) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) x[i] += y;
  };
  add(2);
  add(3);
  return n ? x[n - 1] : 0;
}
struct Grid {
  long n;
  double *field;
  explicit Grid(long count) : n(count), field(new double[count]) {
    std::fill(field, field + n, 0.5);
  }
  ~Grid() { delete[] field; }
  void add(double y) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) field[i] += y;
  }
};
// The constructor is inlined: either line is accepted.
// CHECK: member: calls 1, {{.*}}SerialFirstTouch@{{.*}}
CASE member(long n) {
  Grid g(n);
  g.add(1);
  return n ? g.field[n - 1] : 0;
}
struct Point { double x, y, z; Point() : x(0), y(1), z(2) {} };
// The user's constructor writes it, and has the line.
// CHECK: objects: calls 1, SerialFirstTouch@[[#@LINE-2]], FirstTouchInserted@[[#@LINE+2]]
CASE objects(long n) {
  std::vector<Point> p(n);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) p[i].x += p[i].y + p[i].z;
  return n ? p[n - 1].x : 0;
}

int main(int argc, char **argv) {
  long n = atol(argv[1]);
  printf("%.1f %.1f %.1f %.1f %.1f %.1f\n", with_new(n), zeroed_new(n), filled(n),
         captured(n), member(n), objects(n));
}
// CHECK: end
