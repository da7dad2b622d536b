// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lambdas that capture arrays, std::function, closures kept after their scope.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

static std::function<int(int)> tableOf(std::vector<int> values) {
  return
      [values = std::move(values)](int i) { return values[i % values.size()]; };
}

template <class F> static long sumOver(int n, F f) {
  long sum = 0;
  for (int i = 0; i < n; ++i)
    sum += f(i);
  return sum;
}

int main() {
  std::vector<int> squares(100), order(100);
  std::generate(squares.begin(), squares.end(), [i = 0]() mutable {
    ++i;
    return i * i % 101;
  });
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return squares[a] < squares[b]; });
  std::map<std::string, std::function<int(int)>> functions;
  functions["table"] = tableOf(squares);
  functions["order"] = [&order](int i) { return order[i % 100]; };
  int calls = 0;
  functions["count"] = [&](int i) { return ++calls + i; };
  functions["both"] = [&functions](int i) {
    return functions["table"](functions["order"](i));
  };
  int local[50];
  auto fill = [&](int from) {
    for (int i = 0; i < 50; ++i)
      local[i] = from + squares[i];
    return std::accumulate(local, local + 50, 0);
  };
  long mix = 0;
  for (const auto &[name, function] : functions)
    mix = mix * 13 + sumOver(500, function) + long(name.size());
  std::function<long(int)> recursive = [&](int n) -> long {
    return n < 2 ? n : recursive(n - 1) + recursive(n - 2);
  };
  auto composed = [](auto f, auto g) {
    return [=](auto x) { return g(f(x)); };
  };
  long twice = sumOver(300, composed([&](int i) { return squares[i % 100]; },
                                     [](int x) { return x * x; }));
  std::printf("%ld %d %ld %ld %d\n", mix, fill(3), recursive(18), twice, calls);
  return calls == 500 && recursive(18) == 2584 ? 0 : 1;
}
