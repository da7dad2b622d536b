// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Typical input of a compiler: templates, the C++ library, some recursion.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

template <int n> struct Fibonacci {
  static constexpr long value =
      Fibonacci<n - 1>::value + Fibonacci<n - 2>::value;
};
template <> struct Fibonacci<1> {
  static constexpr long value = 1;
};
template <> struct Fibonacci<0> {
  static constexpr long value = 0;
};

std::map<std::string, std::vector<int>> table;

long matches(const std::string &text) {
  table[text.substr(1)].push_back(int(text.size()));
  std::sort(table[text].begin(), table[text].end());
  return Fibonacci<80>::value + long(table.size());
}

int main() { return int(matches("some text") & 1); }
