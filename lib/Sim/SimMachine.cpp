// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values derived from the figures of a machine.

#include "Sim/SimMachine.h"
#include <algorithm>

using namespace mpg::sim;

unsigned CoreGroups::hops(unsigned from, unsigned to) const {
  unsigned a = from, b = to;
  if (!ring.empty()) {
    a = unsigned(std::find(ring.begin(), ring.end(), from) - ring.begin());
    b = unsigned(std::find(ring.begin(), ring.end(), to) - ring.begin());
  }
  unsigned steps = a > b ? a - b : b - a;
  return std::min(steps, count - steps);
}
