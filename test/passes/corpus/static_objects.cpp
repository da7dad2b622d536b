// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects with constructors before main, function-local statics, bitsets,
// tuples.
#include <array>
#include <bitset>
#include <cstdio>
#include <optional>
#include <string>
#include <variant>
#include <vector>

struct Table {
  std::array<unsigned, 512> entries;
  explicit Table(unsigned seed) {
    for (unsigned &entry : entries)
      entry = seed = seed * 22695477u + 1;
  }
};
static const Table first(7), second(first.entries[511]);
static thread_local std::vector<int> own{1, 2, 3};
static std::bitset<1000> sieve = [] {
  std::bitset<1000> isPrime;
  isPrime.set();
  for (size_t i = 2; i < 1000; ++i)
    for (size_t k = i * i; k < 1000; k += i)
      isPrime.reset(k);
  return isPrime;
}();

static const std::vector<int> &steps() {
  static const std::vector<int> values = [] {
    std::vector<int> made;
    for (int n = 1; n < 500; ++n) {
      int count = 0;
      for (long at = n; at != 1; at = at % 2 ? 3 * at + 1 : at / 2)
        ++count;
      made.push_back(count);
    }
    return made;
  }();
  return values;
}

using Item = std::variant<int, double, std::string, std::array<int, 5>>;
struct Measure {
  double operator()(int value) const { return value; }
  double operator()(double value) const { return value / 2; }
  double operator()(const std::string &text) const {
    return double(text.size());
  }
  double operator()(const std::array<int, 5> &values) const {
    double sum = 0;
    for (int value : values)
      sum += value;
    return sum;
  }
};

static std::optional<int> longest() {
  int best = -1;
  for (size_t i = 0; i < steps().size(); ++i)
    if (best < 0 || steps()[i] > steps()[best])
      best = int(i);
  return best < 0 ? std::nullopt : std::optional<int>(best + 1);
}

int main() {
  unsigned mix = 0;
  for (size_t i = 0; i < 512; ++i)
    mix = (mix << 3 | mix >> 29) ^ first.entries[i] ^ second.entries[511 - i];
  std::vector<Item> items;
  for (int i = 0; i < 100; ++i) {
    if (i % 4 == 0)
      items.emplace_back(i);
    else if (i % 4 == 1)
      items.emplace_back(i / 4.0);
    else if (i % 4 == 2)
      items.emplace_back(std::string(size_t(i), 'q'));
    else
      items.emplace_back(std::array<int, 5>{i, 1, 2, 3, 4});
  }
  double sum = 0;
  for (const Item &item : items)
    sum += std::visit(Measure(), item);
  for (int i = 0; i < 40; ++i)
    own.push_back(own[own.size() - 3] + own[i]);
  std::printf("%u %zu %.3f %d %d\n", mix, sieve.count(), sum, *longest(),
              own.back());
  return sieve.count() == 170 && *longest() == 327 ? 0 : 1;
}
