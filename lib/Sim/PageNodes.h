// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which core group's memory a page lies in, by policy. First touch remembers
// each page that was touched, a byte for each of 64 neighbours at once: less
// than two bytes a page where memory is dense.

#ifndef MPG_SIM_PAGENODES_H
#define MPG_SIM_PAGENODES_H

#include <array>
#include <cstdint>
#include <unordered_map>

namespace mpg::sim {

enum class PlacementPolicy : uint8_t {
  firstTouch, ///< the group that reads or writes the page first
  oneGroup,   ///< all on group 0: paged in by one thread at the start
  interleave, ///< page by page round the groups
};

class PageNodes {
public:
  PageNodes(PlacementPolicy policy, unsigned groups)
      : policy(policy), groups(groups) {}

  /// The group of \p page, which a core of \p group reads or writes.
  unsigned groupOf(uint64_t page, unsigned group) {
    switch (policy) {
    case PlacementPolicy::oneGroup:
      return 0;
    case PlacementPolicy::interleave:
      return unsigned(page % groups);
    case PlacementPolicy::firstTouch:
      break;
    }
    if (page != lastPage) {
      lastPage = page;
      uint8_t &owner = touched[page / neighbours][page % neighbours];
      if (!owner)
        owner = uint8_t(group + 1);
      lastGroup = owner - 1;
    }
    return lastGroup;
  }

private:
  static constexpr unsigned neighbours = 64;

  PlacementPolicy policy;
  unsigned groups;
  /// Their groups, from 1.
  std::unordered_map<uint64_t, std::array<uint8_t, neighbours>> touched;
  uint64_t lastPage = ~uint64_t(0);
  unsigned lastGroup = 0;
};

} // namespace mpg::sim

#endif // MPG_SIM_PAGENODES_H
