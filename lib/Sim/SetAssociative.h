// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A set-associative memory of line or page numbers: every cache and every TLB
// of the model is one. A set is a list, the newest entry first: by use for LRU,
// by fill for FIFO. So the victim is the last entry, and a hit at the front,
// which most are, changes nothing. Free entries are at the end.

#ifndef MPG_SIM_SETASSOCIATIVE_H
#define MPG_SIM_SETASSOCIATIVE_H

#include "Sim/SimMachine.h"
#include <array>
#include <cstdint>
#include <vector>

namespace mpg::sim {

/// Most ways that each sector may fill; 0: no limit. HW:sector-zero
using WayLimits = std::array<uint8_t, 4>;

class SetAssociative {
public:
  /// One cache of \p level, of lines of \p lineBytes.
  SetAssociative(const CacheLevel &level, unsigned lineBytes,
                 const WayLimits &limits);
  explicit SetAssociative(const TlbArray &array);

  struct Outcome {
    bool hit;
    bool evictedDirty;
    uint64_t evicted; ///< line number, if evictedDirty
  };

  /// Looks for \p line in the set of \p index, its physical line number or
  /// itself, and takes it in if it is not there.
  Outcome access(uint64_t line, uint64_t index, unsigned sector, bool store);
  bool contains(uint64_t line, uint64_t index) const {
    return find(line, index) < entries.size();
  }
  /// Marks \p line as changed; false: it is not there.
  bool markDirty(uint64_t line, uint64_t index);

private:
  // An entry: line number, two bits of sector, one that says changed.
  static constexpr unsigned lineShift = 3;
  static constexpr uint64_t freeEntry = ~uint64_t(0);

  uint64_t setOf(uint64_t index) const;
  /// Its place in entries; their number: it is not there.
  size_t find(uint64_t line, uint64_t index) const;
  unsigned victimWay(const uint64_t *set, unsigned sector) const;
  static unsigned sectorOf(uint64_t entry) { return entry >> 1 & 3; }
  /// Moves the entries before \p way one back, and \p entry to the front.
  static void putInFront(uint64_t *set, unsigned way, uint64_t entry) {
    for (; way; --way)
      set[way] = set[way - 1];
    set[0] = entry;
  }

  std::vector<uint64_t> entries;
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

inline uint64_t SetAssociative::setOf(uint64_t index) const {
  uint64_t hash = 0;
  for (unsigned shift : hashShifts)
    hash ^= index >> shift;
  index ^= (hash & hashMask) << hashAt;
  return setMask ? index & setMask : index % sets;
}

inline SetAssociative::Outcome SetAssociative::access(uint64_t line,
                                                      uint64_t index,
                                                      unsigned sector,
                                                      bool store) {
  uint64_t *set = &entries[setOf(index) * ways];
  sector &= sectorMask;
  unsigned way = 0;
  while (way < ways && set[way] >> lineShift != line)
    ++way;
  if (way < ways) {
    uint64_t entry = set[way] | uint64_t(store);
    if (hitRelabels)
      entry = (entry & ~uint64_t(6)) | sector << 1;
    if (lru)
      putInFront(set, way, entry);
    else
      set[way] = entry;
    return {true, false, 0};
  }
  way = limited ? victimWay(set, sector) : ways - 1;
  uint64_t old = set[way];
  putInFront(set, way, line << lineShift | sector << 1 | uint64_t(store));
  return {false, old != freeEntry && (old & 1), old >> lineShift};
}

} // namespace mpg::sim

#endif // MPG_SIM_SETASSOCIATIVE_H
