// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For C++ compilers: containers of containers, templates that are instantiated
// dozens of times, exceptions, expressions at compile time.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

template <int N> struct Node : Node<N - 1> {
  std::map<int, std::array<int, N + 1>> table;
  virtual int sum() const {
    int total = Node<N - 1>::sum();
    for (const auto &[key, values] : table)
      total += key * values[N];
    return total;
  }
};
template <> struct Node<0> {
  virtual ~Node() = default;
  virtual int sum() const { return 0; }
};
template struct Node<12>;

template <class... T> struct Row {
  std::tuple<T...> fields;
};
template <class... T>
std::ostream &operator<<(std::ostream &out, const Row<T...> &row) {
  return out << std::get<0>(row.fields) << std::get<2>(row.fields);
}

template <class... T> std::string join(const T &...values) {
  std::ostringstream out;
  ((out << values << ' '), ...);
  return out.str();
}
template <size_t... I> auto joinAll(std::index_sequence<I...>) {
  return join(
      Row<size_t, std::array<char, I + 1>, std::string>{{I, {}, "x"}}...);
}
constexpr unsigned collatz(unsigned long n) {
  unsigned steps = 0;
  for (; n != 1; steps++)
    n = n % 2 ? 3 * n + 1 : n / 2;
  return steps;
}
template <size_t... I> constexpr auto longest(std::index_sequence<I...>) {
  return std::max({collatz(I + 1)...});
}
static_assert(longest(std::make_index_sequence<200>()) == 124);

std::string useAll(std::unordered_map<std::string, std::vector<int>> &map) {
  Node<12> node;
  auto words = std::make_unique<std::vector<std::string>>();
  for (auto &[key, values] : map) {
    std::stable_sort(values.begin(), values.end());
    words->push_back(key + joinAll(std::make_index_sequence<12>()));
    if (values.empty())
      throw std::runtime_error(key);
  }
  std::sort(words->begin(), words->end());
  return join(node.sum(), words->size(), words->front());
}
