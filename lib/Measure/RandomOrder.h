// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which things are measured in one round.

#ifndef MPG_MEASURE_RANDOMORDER_H
#define MPG_MEASURE_RANDOMORDER_H

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace mpg {

/// The numbers below \p count in random order. Not std::shuffle, which may
/// differ between libraries: the same seed gives the same order everywhere.
inline std::vector<size_t> randomOrder(size_t count, std::mt19937_64 &random) {
  std::vector<size_t> order(count);
  for (size_t index = 0; index < count; ++index)
    order[index] = index;
  for (size_t left = count; left > 1; --left)
    std::swap(order[left - 1], order[random() % left]);
  return order;
}

} // namespace mpg

#endif // MPG_MEASURE_RANDOMORDER_H
