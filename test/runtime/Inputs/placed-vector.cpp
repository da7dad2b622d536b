// std::vector: its constructor is the serial initialisation.
//
//   placed-vector MIB

#include "placed.h"
#include <cstdlib>
#include <vector>

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  long n = atol(argv[1]) * (1 << 20) / 8;
  placed_begin(0, 2 * n * 8);
  std::vector<double> a(n, 3.0), b(n);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i)
    b[i] = 2 * a[i] + double(i % 1000);
  placed_end();
  placed_where("a", a.data(), n, 8, 0);
  placed_where("b", b.data(), n, 8, 0);
  placed_result(b.data(), n * 8);
  return 0;
}
