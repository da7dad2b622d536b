// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A set-associative TLB. A set is a list, the newest page first: by use for
// LRU, by fill for FIFO. So the victim is the last entry, and a hit at the
// front, which most are, changes nothing.

#ifndef MPG_SIM_SETTLB_H
#define MPG_SIM_SETTLB_H

#include "Sim/SimMachine.h"
#include <cstdint>
#include <vector>

namespace mpg::sim {

class SetTlb {
public:
  explicit SetTlb(const TlbArray &array)
      : pages(array.entries, ~uint64_t(0)), sets(array.entries / array.ways),
        ways(array.ways), lru(array.replacement == Replacement::lru) {}

  /// Whether \p page was there; it is now.
  bool access(uint64_t page) {
    // A remainder by a power of two is the rule, and quicker as a mask.
    uint64_t place = sets & (sets - 1) ? page % sets : page & (sets - 1);
    uint64_t *set = &pages[place * ways];
    unsigned way = 0;
    while (way < ways && set[way] != page)
      ++way;
    bool hit = way < ways;
    if (hit && !lru)
      return true;
    for (way = hit ? way : ways - 1; way; --way)
      set[way] = set[way - 1];
    set[0] = page;
    return hit;
  }

private:
  std::vector<uint64_t> pages;
  uint64_t sets;
  unsigned ways;
  bool lru;
};

} // namespace mpg::sim

#endif // MPG_SIM_SETTLB_H
