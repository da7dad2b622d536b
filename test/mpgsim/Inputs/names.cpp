// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Containers of C++ and an array on the stack.
#include <cstdio>
#include <map>
#include <vector>

struct Grid {
  std::vector<double> cells;
};

__attribute__((noinline)) static long fill(int seed) {
  int table[20000];
  for (int i = 0; i < 20000; ++i)
    table[i] = i * seed;
  long sum = 0;
  for (int i = 0; i < 20000; ++i)
    sum += table[i * 77 % 20000];
  return sum;
}

int main(int argc, char **) {
  size_t count = 1 << 20;
  Grid grid;
  grid.cells.resize(count);
  std::vector<double> result(count, 0.0);
  for (size_t i = 0; i < count; ++i)
    result[i] += grid.cells[i * 26544357 % count];
  std::map<int, int> known;
  for (int i = 0; i < 100; ++i)
    known[i * argc] = i;
  std::printf("%g %ld %zu\n", result[7], fill(argc), known.size());
}
