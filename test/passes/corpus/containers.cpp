// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Containers of the library: vector, deque, list, map, unordered_map, set,
// heap.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

template <class Container> static long mixOf(const Container &values) {
  unsigned long mix = 0;
  for (const auto &value : values)
    mix = mix * 31 + (unsigned long)value;
  return (long)mix;
}

int main() {
  std::vector<int> numbers;
  unsigned state = 3;
  for (int i = 0; i < 3000; ++i) {
    state = state * 1664525u + 1013904223u;
    numbers.push_back(int(state >> 12) % 1000);
  }
  std::deque<int> ends;
  std::list<int> items;
  std::map<int, std::vector<int>> places;
  std::unordered_map<std::string, int> counts;
  std::priority_queue<int> heap;
  for (int i = 0; i < 3000; ++i) {
    int n = numbers[i];
    if (n % 2)
      ends.push_front(n);
    else
      ends.push_back(n);
    if (n % 3 == 0)
      items.push_back(n);
    places[n].push_back(i);
    ++counts[std::to_string(n % 50)];
    heap.push(n);
  }
  items.sort();
  items.unique();
  std::set<int> different(numbers.begin(), numbers.end());
  long inPlaces = 0, inCounts = 0;
  for (const auto &[number, at] : places)
    inPlaces += number * long(at.size()) + at.back();
  for (const auto &[text, count] : counts)
    inCounts += std::stoi(text) * count;
  std::vector<int> sorted;
  for (; !heap.empty(); heap.pop())
    sorted.push_back(heap.top());
  std::vector<bool> bits(1000);
  for (int n : numbers)
    bits[n] = !bits[n];
  std::printf("%ld %ld %ld %zu\n", mixOf(ends), mixOf(items), mixOf(sorted),
              different.size());
  std::printf("%ld %ld %ld\n", inPlaces, inCounts,
              long(std::count(bits.begin(), bits.end(), true)));
  return std::is_sorted(sorted.rbegin(), sorted.rend()) &&
                 different.size() == places.size()
             ? 0
             : 1;
}
