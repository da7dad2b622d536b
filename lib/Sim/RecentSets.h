// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sets of a first cache without limits. A set is a list, the newest line
// first: by use for LRU, by fill for FIFO. Looking for a line moves those in
// front of it by one on the way, so a miss is one short pass, where CacheSets
// has a search, a victim and the ages of all. With few ways that is quicker.

#ifndef MPG_SIM_RECENTSETS_H
#define MPG_SIM_RECENTSETS_H

#include "Sim/CacheSets.h"

namespace mpg::sim {

class RecentSets {
public:
  RecentSets(const CacheLevel &level, uint64_t sets)
      : words(sets * level.modelledWays(), nothing), ways(level.modelledWays()),
        lru(level.replacement == Replacement::lru),
        hitRelabels(level.hitRelabels && level.sectors > 1),
        sectorMask(level.sectors - 1) {}

  /// \see CacheSets::access.
  CacheSets::Outcome access(uint64_t line, uint64_t set, unsigned sector,
                            bool store) {
    uint64_t use = useOf(line, sector, store);
    uint64_t *word = &words[set * ways];
    if (!lru)
      if (uint64_t *found = find(use, word)) {
        *found = usedAgain(*found, use);
        return {true, false, false, 0};
      }
    // What most of these caches have, with the loop unrolled.
    return ways == 4 ? moveIn<4>(use, word, 4) : moveIn<0>(use, word, ways);
  }
  /// \see CacheSets::takeIn.
  CacheSets::Outcome takeIn(uint64_t line, uint64_t set, unsigned sector) {
    if (find(line << stateBits, &words[set * ways]))
      return {true, false, false, 0};
    return access(line, set, sector, false);
  }
  /// \see CacheSets::addState.
  void addState(uint64_t lines, std::vector<uint64_t> &state) const {
    for (uint64_t word : words)
      state.push_back(word == nothing ? word : word - (lines << stateBits));
  }
  /// \see CacheSets::moveLines.
  void moveLines(uint64_t lines) {
    for (uint64_t &word : words)
      word += word == nothing ? 0 : lines << stateBits;
  }

private:
  // A line's number, two bits of sector, changed.
  static constexpr unsigned stateBits = 3;
  static constexpr uint64_t states = 1 << stateBits, dirty = 1;
  static constexpr uint64_t nothing = ~uint64_t(0);

  uint64_t useOf(uint64_t line, unsigned sector, bool store) const {
    return line << stateBits | uint64_t(sector & sectorMask) << 1 |
           uint64_t(store);
  }
  uint64_t usedAgain(uint64_t word, uint64_t use) const {
    return hitRelabels ? use | (word & dirty) : word | (use & dirty);
  }
  template <unsigned fixedWays>
  CacheSets::Outcome moveIn(uint64_t use, uint64_t *word, unsigned count) {
    uint64_t before = use;
    for (unsigned way = 0; way < (fixedWays ? fixedWays : count); ++way) {
      uint64_t here = word[way];
      word[way] = before;
      if ((here ^ use) < states) {
        word[0] = usedAgain(here, use);
        return {true, false, false, 0};
      }
      before = here;
    }
    bool isLine = before != nothing;
    return {false, isLine, isLine && (before & dirty), before >> stateBits};
  }
  uint64_t *find(uint64_t use, uint64_t *word) const {
    for (uint64_t *end = word + ways; word < end; ++word)
      if ((*word ^ use) < states)
        return word;
    return nullptr;
  }

  std::vector<uint64_t> words;
  unsigned ways;
  bool lru;
  bool hitRelabels;
  unsigned sectorMask;
};

} // namespace mpg::sim

#endif // MPG_SIM_RECENTSETS_H
