// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sets of one cache of the model. A line stays in its way; beside it stands
// its age, the number of ways that are newer: by use for LRU, by fill for FIFO.
// So a set is searched and aged sixteen ways at a time, nothing moves, and a
// hit of the newest changes nothing. Free ways are the oldest.
//
// Searched is a mark of eight bits a way, one load for sixteen. The rest of the
// line's number is looked at where the mark is the same, so nothing is guessed:
// 44 bits are compared in all, of addresses of 50 bits and more.

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

  // Of the following isPlain says what isPlain() does: quicker.

  /// Looks for \p line in \p set and takes it in if it is not there.
  template <bool isPlain>
  Outcome access(uint64_t line, uint64_t set, unsigned sector, bool store);
  /// The same, but if the line is there, nothing changes.
  template <bool isPlain>
  Outcome takeIn(uint64_t line, uint64_t set, unsigned sector);
  /// Marks \p line as changed; false: it is not there.
  template <bool isPlain> bool markDirty(uint64_t line, uint64_t set);
  /// Whether a load of \p line, or marking it as changed, would hit and change
  /// nothing. False may be wrong.
  bool isFront(uint64_t line, uint64_t set, unsigned sector) const {
    return (fronts[set] & ~uint64_t(dirty)) ==
           (line << frontBits | (sector & sectorMask) << 1);
  }
  bool isDirtyFront(uint64_t line, uint64_t set) const {
    return (fronts[set] & ~uint64_t(sectorBits)) == (line << frontBits | dirty);
  }
  /// At most sixteen ways, and no sector has a limit.
  bool isPlain() const { return blocksOfSet == 1 && !limited; }
  bool isLimited() const { return limited; }
  /// Tells the host that \p set is about to be looked at.
  void expect(uint64_t set) const {
    const Block *block = setAt<false>(set);
    __builtin_prefetch(&block->mark, 1);
    __builtin_prefetch(&block->low[lanes - 1], 1);
  }
  /// Adds all that decides what comes next, as if each line in it were
  /// \p lines less.
  void addState(uint64_t lines, std::vector<uint64_t> &state) const;
  /// Each line in it becomes the one \p lines further on, in the same set.
  void moveLines(uint64_t lines);
  /// Whether all lines of a set can be used in turn without a miss: LRU, and no
  /// sector has a limit.
  bool isPlainLru() const { return lru && !limited; }

private:
  /// Two cache lines of most hosts; what is not there is seen in the first.
  struct alignas(64) Block {
    Lanes mark; ///< \see markOf
    Lanes age;
    Lanes state;
    uint32_t low[lanes]; ///< bits 0 to 31 of the line's number
  };
  struct Place {
    Block *block;
    unsigned lane;
  };
  // Of a state: changed, two bits of sector, bits 40 to 43 of the line's
  // number, nothing there.
  static constexpr uint8_t dirty = 1, sectorBits = 6, topBits = 120,
                           isFree = 128;
  static constexpr uint8_t noWay = 127; ///< age of lanes behind the last way
  /// Of a front below the line's number: changed and sector, as in a state.
  static constexpr unsigned frontBits = 3;

  static uint8_t hashOf(uint32_t low) {
    return uint8_t(low * 0x9e3779b1 >> 24);
  }
  /// Bits 32 to 39 of a line's number, mixed with those below.
  static uint8_t markOf(uint64_t line) {
    return uint8_t(hashOf(uint32_t(line)) ^ line >> 32);
  }
  static uint8_t topOf(uint64_t line) { return line >> 40 << 3 & topBits; }
  static uint64_t lineIn(const Place &place) {
    uint32_t low = place.block->low[place.lane];
    uint64_t middle = uint8_t(place.block->mark[place.lane]) ^ hashOf(low);
    uint64_t top = unsigned(stateIn(place) & topBits) >> 3;
    return top << 40 | middle << 32 | low;
  }
  static uint8_t stateIn(const Place &place) {
    return uint8_t(place.block->state[place.lane]);
  }
  static void put(Lanes &numbers, Lanes only, uint8_t value) {
    numbers = (numbers & ~only) | (allLanes(value) & only);
  }

  template <bool isPlain>
  bool find(uint64_t line, Block *set, Place &place) const;
  template <bool isPlain> Place ofAge(Block *set, uint8_t age) const;
  Place victim(Block *set, unsigned sector) const;
  bool isHeldIn(Block *set, unsigned sector, Place &oldest,
                unsigned &held) const;
  template <bool isPlain>
  Outcome replace(uint64_t line, Block *set, unsigned sector, bool store);
  template <bool isPlain>
  void makeNewest(Block *set, const Place &place, Lanes only) {
    Lanes limit = allLanes(uint8_t(place.block->age[place.lane]));
    for (unsigned at = 0; at < (isPlain ? 1 : blocksOfSet); ++at)
      set[at].age -= set[at].age < limit;
    place.block->age &= ~only;
  }
  template <bool isPlain> Block *setAt(uint64_t number) const {
    return &blocks[isPlain ? number : number * blocksOfSet];
  }

  void setFront(uint64_t line, uint64_t set, uint8_t state) {
    fronts[set] = line << frontBits | (state & (dirty | sectorBits));
  }

  mutable std::vector<Block> blocks;
  /// The line of each set that was used or came last: most hits are there, and
  /// need nothing else.
  std::vector<uint64_t> fronts;
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

template <bool isPlain>
inline bool CacheSets::find(uint64_t line, Block *set, Place &place) const {
  Lanes mark = allLanes(markOf(line));
  for (unsigned at = 0; at < (isPlain ? 1 : blocksOfSet); ++at, ++set)
    for (unsigned found = bitsOf(set->mark == mark); found;
         found &= found - 1) {
      place = {set, unsigned(__builtin_ctz(found))};
      if (set->low[place.lane] == uint32_t(line) &&
          (stateIn(place) & (topBits | isFree)) == topOf(line))
        return true;
    }
  return false;
}

template <bool isPlain>
inline CacheSets::Place CacheSets::ofAge(Block *set, uint8_t age) const {
  for (;; ++set)
    if (unsigned found = bitsOf(set->age == allLanes(age)); isPlain || found)
      return {set, unsigned(__builtin_ctz(found))};
}

template <bool isPlain>
inline CacheSets::Outcome CacheSets::replace(uint64_t line, Block *set,
                                             unsigned sector, bool store) {
  Place place = isPlain || !limited ? ofAge<isPlain>(set, uint8_t(ways - 1))
                                    : victim(set, sector);
  Block &block = *place.block;
  uint8_t state = stateIn(place);
  uint64_t old = lineIn(place);
  Lanes only = onlyLane(place.lane);
  put(block.mark, only, markOf(line));
  put(block.state, only, uint8_t(topOf(line) | sector << 1 | unsigned(store)));
  block.low[place.lane] = uint32_t(line);
  makeNewest<isPlain>(set, place, only);
  return {false, !(state & isFree), bool(state & dirty), old};
}

template <bool isPlain>
inline CacheSets::Outcome CacheSets::access(uint64_t line, uint64_t number,
                                            unsigned sector, bool store) {
  sector &= sectorMask;
  Block *set = setAt<isPlain>(number);
  Place place;
  if (!find<isPlain>(line, set, place)) {
    setFront(line, number, uint8_t(sector << 1 | unsigned(store)));
    return replace<isPlain>(line, set, sector, store);
  }
  uint8_t before = stateIn(place), after = uint8_t(before | unsigned(store));
  if (hitRelabels)
    after = uint8_t((after & ~sectorBits) | sector << 1);
  if (after != before)
    put(place.block->state, onlyLane(place.lane), after);
  if (lru && place.block->age[place.lane])
    makeNewest<isPlain>(set, place, onlyLane(place.lane));
  setFront(line, number, after);
  return {true, false, false, 0};
}

template <bool isPlain>
inline CacheSets::Outcome CacheSets::takeIn(uint64_t line, uint64_t number,
                                            unsigned sector) {
  Block *set = setAt<isPlain>(number);
  Place place;
  if (find<isPlain>(line, set, place))
    return {true, false, false, 0};
  sector &= sectorMask;
  setFront(line, number, uint8_t(sector << 1));
  return replace<isPlain>(line, set, sector, false);
}

template <bool isPlain>
inline bool CacheSets::markDirty(uint64_t line, uint64_t number) {
  Place place;
  if (!find<isPlain>(line, setAt<isPlain>(number), place))
    return false;
  place.block->state |= onlyLane(place.lane) & dirty;
  if (fronts[number] >> frontBits == line)
    fronts[number] |= dirty;
  return true;
}

} // namespace mpg::sim

#endif // MPG_SIM_CACHESETS_H
