// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random machines and programs for both models.

#pragma once

#include "Sim/Model.h"
#include <string>

namespace mpg::sim {

/// splitmix64: the same on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() { return mixBits(state += 0x9e3779b97f4a7c15); }
  uint64_t below(uint64_t limit) { return next() % limit; }
  bool oneIn(uint64_t count) { return below(count) == 0; }
  template <typename T> T oneOf(const std::vector<T> &values) {
    return values[below(values.size())];
  }

private:
  uint64_t state;
};

/// Runs the random program of \p seed on both models, about \p budget accesses.
/// \returns "" or the first counter that differs. \p accesses gets their
/// number.
std::string compareModels(uint64_t seed, uint64_t budget, uint64_t &accesses);

} // namespace mpg::sim
