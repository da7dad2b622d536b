// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors that grow in a function that does not declare them.

#include <vector>

struct Cells {
  int count;
  std::vector<double> first;
  std::vector<long> second;
};

__attribute__((noinline)) void fill(Cells &cells, int n) {
  for (int at = 0; at < n; ++at)
    cells.first.push_back(at);
  for (int at = 0; at < n; ++at)
    cells.second.push_back(cells.count);
}

int main(int argc, char **) {
  Cells cells = {argc, {}, {}};
  fill(cells, argc * 2000);
  return int(cells.first[7]) + int(cells.second[9]) == 0;
}
