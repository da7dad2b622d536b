// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sets of one cache of the model. A set is a list, the newest line first:
// by use for LRU, by fill for FIFO; what is not there is at its end. So the
// oldest line of a sector is its last one in the list, and a hit, a miss and a
// victim of any age are the same step: the lines in front of a place move by
// one, onto it, and the new one goes to the front. Sixteen ways are two
// registers of AVX-512, and that step is three instructions for each, without a
// branch.

#pragma once

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
  CacheSets(CacheSets &&) = default; ///< no copy: it points into itself

  struct Outcome {
    bool hit;
    bool evicted; ///< a line, for the new one
    bool evictedDirty;
    uint64_t line; ///< that was evicted
  };

  /// The set of a physical line number; of a line's own number if the cache is
  /// indexed by virtual addresses.
  uint64_t getSet(uint64_t index) const {
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
  /// The same, but if the line is there, nothing changes.
  Outcome insert(uint64_t line, uint64_t set, unsigned sector);

  /// One of many: a load, or a line that is marked as changed if it is there.
  struct Use {
    uint64_t word; ///< \see getLoad, packChange
    uint64_t set;
  };
  uint64_t getLoad(uint64_t line, unsigned sector) const {
    return getWord(line, sector, false);
  }
  static uint64_t packChange(uint64_t line) {
    return line << stateBits | dirty;
  }
  /// The result: 0 for a hit; else a bit, one more if a changed line was
  /// evicted, and that line.
  static bool isMiss(uint64_t result) { return result & missed; }
  static bool isDirtyEvicted(uint64_t result) { return result & changedLeft; }
  static uint64_t evictedLine(uint64_t result) { return result >> stateBits; }
  /// All \p uses in their order.
  void run(const Use *uses, size_t count, uint64_t *results);

  // A block is 2^bits sets that begin at a multiple of it. Lines that follow
  // each other, from such a multiple on, lie in the sets of one.

  /// The largest number of bits for which that holds; 0: none.
  unsigned blockBitsIn(uint64_t linesOfPage) const;
  /// Once, before isAlike is asked.
  void keepBlocks(unsigned bits);
  /// Whether all sets of the block that begins with \p set hold the same, each
  /// one line further on.
  bool isAlike(uint64_t set);
  /// The same in all sets of such a block: for each, one line further on. \p
  /// use and the result are those of the first.
  uint64_t runAlike(const Use &use);

  /// Adds all that decides what comes next, as if each line in it were
  /// \p lines less.
  void addState(uint64_t lines, std::vector<uint64_t> &state) const;
  /// Each line in it becomes the one \p lines further on, in the same set.
  void moveLines(uint64_t lines);
  /// All that decides what comes next.
  void appendWords(std::vector<uint64_t> &state) const {
    state.insert(state.end(), words, words + sets * stride);
  }
  /// Restores what appendWords wrote. \returns the word after it.
  const uint64_t *setWords(const uint64_t *state) {
    std::copy(state, state + sets * stride, words);
    return state + sets * stride;
  }
  /// Whether all lines of a set can be used in turn without a miss: LRU, and no
  /// sector has a limit.
  bool isPlainLru() const { return lru && !limited; }

private:
  // A word: the line's number, two bits of sector, changed.
  static constexpr unsigned stateBits = 3;
  static constexpr uint64_t states = 1 << stateBits, dirty = 1, sectorBits = 6;
  static constexpr uint64_t nothing = ~uint64_t(0) & ~dirty;
  static constexpr uint64_t missed = 1, changedLeft = 2;
  using SectorWays = std::array<uint64_t, 4>; ///< a bit for each way

  uint64_t getWord(uint64_t line, unsigned sector, bool store) const {
    return line << stateBits | uint64_t(sector & sectorMask) << 1 |
           uint64_t(store);
  }
  uint64_t usedAgain(uint64_t word, uint64_t use) const {
    return hitRelabels ? use | (word & dirty) : word | (use & dirty);
  }
  static uint64_t getResult(uint64_t left) {
    return missed | (left & dirty) << 1 | (left & ~(states - 1));
  }
  static Outcome miss(uint64_t left) {
    return {false, left != nothing, bool(left & dirty), left >> stateBits};
  }
  uint64_t *find(uint64_t use, uint64_t *set) const {
    for (uint64_t *word = set; word < set + ways; ++word)
      if ((*word ^ use) < states)
        return word;
    return nullptr;
  }
  template <unsigned fixedWays>
  Outcome moveIn(uint64_t use, uint64_t *set, unsigned count) const;
  Outcome accessListed(uint64_t use, uint64_t *set) const;
  SectorWays waysOfSectors(const uint64_t *set) const;
  unsigned victim(const SectorWays &bits, unsigned sector) const;
  uint64_t runOne(const Use &use);
  void runSets(const Use *uses, size_t count, uint64_t *results);
  void spread(uint64_t block);
  bool isMoved(const uint64_t *first, const uint64_t *set,
               uint64_t lines) const;
#if defined(__x86_64__)
  template <unsigned vectors>
  void runWide(const Use *uses, size_t count, uint64_t *results);
#endif

  std::vector<uint64_t> memory;
  uint64_t *words;             ///< in it, where a line of the host begins
  unsigned stride;             ///< from a set to the next
  unsigned vectors = 0;        ///< of eight words in a set; 0: the portable way
  std::vector<uint8_t> blocks; ///< 1: only the first set of it is kept
  unsigned blockBits = 0;
  uint64_t alikeBlocks = 0;
  uint64_t sets;
  uint64_t setMask; ///< 0: the number of sets is not a power of two
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

/// Looking for a line moves those in front of it by one on the way, so a miss
/// is one short pass.
template <unsigned fixedWays>
inline CacheSets::Outcome CacheSets::moveIn(uint64_t use, uint64_t *set,
                                            unsigned count) const {
  uint64_t before = use;
  for (unsigned way = 0; way < (fixedWays ? fixedWays : count); ++way) {
    uint64_t here = set[way];
    set[way] = before;
    if ((here ^ use) < states) {
      set[0] = usedAgain(here, use);
      return {true, false, false, 0};
    }
    before = here;
  }
  return miss(before);
}

inline CacheSets::Outcome CacheSets::access(uint64_t line, uint64_t set,
                                            unsigned sector, bool store) {
  uint64_t use = getWord(line, sector, store), *list = &words[set * stride];
  if (!isPlainLru())
    return accessListed(use, list);
  // The ways of most first caches, with the loop unrolled.
  return ways == 4 ? moveIn<4>(use, list, 4) : moveIn<0>(use, list, ways);
}

inline CacheSets::Outcome CacheSets::insert(uint64_t line, uint64_t set,
                                            unsigned sector) {
  if (find(line << stateBits, &words[set * stride]))
    return {true, false, false, 0};
  return access(line, set, sector, false);
}

} // namespace mpg::sim
