// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sets of one cache of the model. A line stays in its way; beside it stands
// its age, the number of ways that are newer: by use for LRU, by fill for FIFO.
// So a set is searched and aged sixteen ways at a time, nothing moves, and a
// hit of the newest changes nothing. Free ways are the oldest.

#ifndef MPG_SIM_CACHESETS_H
#define MPG_SIM_CACHESETS_H

#include "Sim/Lanes.h"
#include "Sim/SimMachine.h"
#include <array>
#include <vector>

namespace mpg::sim {

/// Most ways that each sector may fill; 0: no limit. HW:sector-zero
using WayLimits = std::array<uint8_t, 4>;

class CacheSets {
public:
  /// One cache of \p level, of lines of \p lineBytes.
  CacheSets(const CacheLevel &level, unsigned lineBytes,
            const WayLimits &limits);

  struct Outcome {
    bool hit;
    bool evicted; ///< a line, for the new one
    bool evictedDirty;
    uint64_t line; ///< that was evicted
  };

  /// The set of a physical line number; of a line's own number if the cache is
  /// indexed by virtual addresses.
  uint64_t setOf(uint64_t index) const {
    uint64_t hash = 0;
    for (unsigned shift : hashShifts)
      hash ^= index >> shift;
    index ^= (hash & hashMask) << hashAt;
    return setMask ? index & setMask : index % sets;
  }
  /// Whether the set of a line is that of its page's first line, but for the
  /// exclusive or with its number in the page.
  bool isLinearIn(uint64_t linesOfPage) const;
  uint64_t mask() const { return setMask; }

  /// Looks for \p line in \p set and takes it in if it is not there.
  Outcome access(uint64_t line, uint64_t set, unsigned sector, bool store);
  bool contains(uint64_t line, uint64_t set) const {
    Place place;
    return find(line, set, place);
  }
  /// Marks \p line as changed; false: it is not there.
  bool markDirty(uint64_t line, uint64_t set) {
    Place place;
    if (!find(line, set, place))
      return false;
    place.block->state[place.lane] |= dirty;
    return true;
  }
  /// Whether all lines of a set can be used in turn without a miss: LRU, and no
  /// sector has a limit.
  bool isPlainLru() const { return lru && !limited; }

private:
  /// Two lines of most hosts.
  struct alignas(128) Block {
    uint32_t low[lanes];  ///< of the line's number
    uint16_t high[lanes]; ///< of it
    uint8_t age[lanes];
    uint8_t state[lanes];
  };
  struct Place {
    Block *block;
    unsigned lane;
  };
  // Of a state: changed, two bits of sector, nothing there.
  static constexpr uint8_t dirty = 1, sectorBits = 6, isFree = 128;
  static constexpr uint8_t noWay = 127; ///< age of lanes behind the last way

  bool find(uint64_t line, uint64_t set, Place &place) const;
  Place ofAge(Block *set, uint8_t age) const;
  Place victim(Block *set, unsigned sector) const;
  bool isHeldIn(const Block *set, unsigned sector, Place &oldest,
                unsigned &held) const;
  void makeNewest(Block *set, Place place) {
    uint8_t age = place.block->age[place.lane];
    for (unsigned at = 0; at < blocksOfSet; ++at)
      countUpBelow(set[at].age, age);
    place.block->age[place.lane] = 0;
  }

  mutable std::vector<Block> blocks;
  unsigned blocksOfSet;
  uint64_t sets;
  uint64_t setMask; ///< 0: the number of sets is no power of two
  unsigned ways;
  bool lru;
  bool limited = false; ///< some sector has a limit that can be reached
  bool hitRelabels = false;
  unsigned sectorMask = 0;
  unsigned hashAt = 0;
  uint64_t hashMask = 0;
  std::vector<unsigned> hashShifts;
  WayLimits maxWays = {};
};

inline bool CacheSets::find(uint64_t line, uint64_t set, Place &place) const {
  Block *block = &blocks[set * blocksOfSet];
  for (unsigned at = 0; at < blocksOfSet; ++at, ++block)
    for (unsigned found = lanesEqual(block->low, uint32_t(line)); found;
         found &= found - 1) {
      unsigned lane = unsigned(__builtin_ctz(found));
      if (block->high[lane] == uint16_t(line >> 32)) {
        place = {block, lane};
        return true;
      }
    }
  return false;
}

inline CacheSets::Place CacheSets::ofAge(Block *set, uint8_t age) const {
  for (;; ++set)
    if (unsigned found = lanesEqual(set->age, 255, age))
      return {set, unsigned(__builtin_ctz(found))};
}

inline CacheSets::Outcome CacheSets::access(uint64_t line, uint64_t number,
                                            unsigned sector, bool store) {
  sector &= sectorMask;
  Block *set = &blocks[number * blocksOfSet];
  Place place;
  if (find(line, number, place)) {
    uint8_t &state = place.block->state[place.lane];
    if (hitRelabels)
      state = uint8_t((state & ~sectorBits) | sector << 1);
    state |= uint8_t(store);
    if (lru && place.block->age[place.lane])
      makeNewest(set, place);
    return {true, false, false, 0};
  }
  place = limited ? victim(set, sector) : ofAge(set, uint8_t(ways - 1));
  auto &[block, lane] = place;
  uint8_t state = block->state[lane];
  uint64_t old = uint64_t(block->high[lane]) << 32 | block->low[lane];
  block->low[lane] = uint32_t(line);
  block->high[lane] = uint16_t(line >> 32);
  block->state[lane] = uint8_t(sector << 1 | unsigned(store));
  makeNewest(set, place);
  return {false, !(state & isFree), bool(state & dirty), old};
}

} // namespace mpg::sim

#endif // MPG_SIM_CACHESETS_H
