// The other half of numa-asked.cpp: the file that includes the header.

#include <mpg/numa_allocator.hpp>
#include <vector>

void makeVectors() {
  struct Point {
    float x, y, z;
  };
  std::vector<double, mpg::numa_allocator<double>> small(524287);
  std::vector<double, mpg::numa_allocator<double>> min(524288);
  std::vector<Point, mpg::numa_allocator<Point>> chunks(
      1000000, mpg::numa_allocator<Point>(4096, 3));
  min.resize(1000000);
  // The optimiser may drop memory that nothing reads.
  static void *volatile seen;
  seen = small.data();
  seen = min.data();
  seen = chunks.data();
  (void)seen;
}
