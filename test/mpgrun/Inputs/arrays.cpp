// Blocks of the heap in vectors, in members and behind std::make_unique.
#include <cstdio>
#include <memory>
#include <vector>
struct Grid {
  double *cells;
  std::vector<double> mass;
  Grid(long n) {
    cells = new double[n];
    for (long i = 0; i < n; ++i)
      cells[i] = 1;
    mass.resize(n);
  }
};
int main() {
  long n = 4 << 17;
  std::vector<double> table(n, 1.0), strm(n, 2.0);
  Grid grid(n);
  auto own = std::make_unique<double[]>(n);
  std::printf("%g\n",
              table[3] + strm[4] + grid.cells[5] + grid.mass[6] + own[7]);
}
