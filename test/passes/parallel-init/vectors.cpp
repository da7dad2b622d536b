// C++: containers fill themselves in loops and memsets that come from headers, and
// code that may throw stays where it can be caught.
// RUN: %all-cxx -O2 -g -c %s -o %t.o 2> %t.txt
// RUN: FileCheck %s --input-file=%t.txt
// RUN: llvm-nm %t.o | FileCheck %s --check-prefix=NAMES --implicit-check-not=thrown{{.*}}mpg_init --implicit-check-not=checked{{.*}}mpg_init
// NAMES: counted{{.*}}mpg_init
// RUN: %link %t.o -o %t && env OMP_NUM_THREADS=3 %t | FileCheck %s --check-prefix=OUT
#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#define KEEP __attribute__((noinline))
constexpr long n = 1 << 20;

// CHECK-DAG: stl_{{.*}}: remark: parallel
KEEP std::vector<double> filled(long m) { return std::vector<double>(m, 1.5); }

KEEP void counted(std::vector<double> &v) {
  // CHECK-DAG: vectors.cpp:[[#@LINE+1]]:{{.*}}: remark: parallel
  for (size_t i = 0; i < v.size(); i++)
    v[i] = i;
}
struct Point {
  Point() : x(1), y(2) {}
  double x, y;
};
// CHECK-DAG: vectors.cpp:[[#@LINE+2]]:{{.*}}: remark: parallel
KEEP std::unique_ptr<Point[]> points(long m) {
  return std::unique_ptr<Point[]>(new Point[m]);
}
struct Fussy {
  static inline long left;
  Fussy() : x(left) {
    if (left-- == 0)
      throw std::runtime_error("enough");
  }
  double x;
};
KEEP long thrown(long m) {
  std::unique_ptr<Fussy[]> all;
  Fussy::left = m / 2;
  try {
    all.reset(new Fussy[m]);
  } catch (const std::exception &) {
    return -Fussy::left;
  }
  return 0;
}
KEEP void checked(std::vector<double> &v, long m) {
  for (long i = 0; i < m; i++)
    v.at(i) = i;
}

int main() {
  // OUT: 1572864
  std::vector<double> v = filled(n);
  std::printf("%.0f\n", std::accumulate(v.begin(), v.end(), 0.0));
  // OUT: 549755289600
  counted(v);
  std::printf("%.0f\n", std::accumulate(v.begin(), v.end(), 0.0));
  // OUT: 3145728
  auto p = points(n);
  std::printf("%.0f\n", std::accumulate(p.get(), p.get() + n, 0.0,
                                        [](double sum, const Point &point) {
                                          return sum + point.x + point.y;
                                        }));
  // OUT: 1
  std::printf("%ld\n", thrown(n));
  // OUT: caught
  try {
    checked(v, n + 1);
  } catch (const std::out_of_range &) {
    std::printf("caught\n");
  }
}
