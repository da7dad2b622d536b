// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exceptions thrown out of loops, with destructors that read arrays on the way.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static std::vector<int> unwound;

struct Guard {
  const int *data;
  int count;
  ~Guard() {
    int sum = 0;
    for (int i = 0; i < count; ++i)
      sum += data[i];
    unwound.push_back(sum);
  }
};

struct Limit : std::runtime_error {
  int place;
  Limit(int place)
      : std::runtime_error("at " + std::to_string(place)), place(place) {}
};

__attribute__((noinline)) static int add(const int *data, int count,
                                         int limit) {
  Guard guard{data, count};
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += data[i];
    if (sum > limit)
      throw Limit(i);
    if (data[i] < 0)
      throw std::vector<int>(data, data + i);
  }
  return sum;
}

static long attempt(std::vector<int> &values, int limit) {
  auto copy = std::make_unique<int[]>(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    copy[i] = values[i];
  try {
    try {
      return add(copy.get(), int(values.size()), limit);
    } catch (const Limit &limit) {
      values[limit.place] = 1;
      if (limit.place % 2)
        throw;
      return -limit.place;
    }
  } catch (const std::exception &error) {
    return 1000 + std::string(error.what()).size();
  } catch (const std::vector<int> &seen) {
    long sum = 0;
    for (int value : seen)
      sum += value;
    return sum * 7;
  }
}

int main() {
  std::vector<int> values;
  for (int i = 0; i < 200; ++i)
    values.push_back(i % 29);
  values[150] = -5;
  long mix = 0;
  for (int limit = 0; limit < 2400; limit += 37)
    mix = (mix * 5 + attempt(values, limit)) % 1000000007;
  long sum = 0;
  for (int value : unwound)
    sum += value;
  std::printf("%ld %zu %ld\n", mix, unwound.size(), sum);
  return unwound.size() == 65 ? 0 : 1;
}
