// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// std::stable_sort without its temporary buffer, which clang calls deprecated
// in Debian 12's C++ library.

#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace mpg {

/// Sorts by \p less; equal ones keep their order.
template <typename Value, typename Less>
void stableSort(std::vector<Value> &values, Less less) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (less(values[a], values[b]))
      return true;
    return !less(values[b], values[a]) && a < b;
  });
  std::vector<Value> sorted;
  sorted.reserve(values.size());
  for (size_t index : order)
    sorted.push_back(std::move(values[index]));
  values = std::move(sorted);
}

/// By \p member of the values or of what they point at, the smallest first.
template <typename Value, typename Class, typename Member>
void sortBy(std::vector<Value> &values, Member Class::*member) {
  stableSort(values, [=](const Value &a, const Value &b) {
    return std::invoke(member, a) < std::invoke(member, b);
  });
}
/// The largest first.
template <typename Value, typename Class, typename Member>
void sortByMost(std::vector<Value> &values, Member Class::*member) {
  stableSort(values, [=](const Value &a, const Value &b) {
    return std::invoke(member, b) < std::invoke(member, a);
  });
}

} // namespace mpg
