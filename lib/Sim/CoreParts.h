// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a core of the model consists of, for the files that define Core.

#ifndef MPG_SIM_COREPARTS_H
#define MPG_SIM_COREPARTS_H

#include "Sim/FifoTlb.h"
#include "Sim/Model.h"
#include "Sim/SetTlb.h"

namespace mpg::sim {

/// The TLBs for pages of one size.
struct Core::Pages {
  struct Level {
    Level(const TlbArray &array, unsigned counter)
        : counter(counter), isFifo(array.replacement == Replacement::fifo &&
                                   array.ways == array.entries),
          fifo(array.entries), sets(array) {}

    bool access(uint64_t page) {
      return isFifo ? fifo.access(page) : sets.access(page);
    }

    unsigned counter;
    bool isFifo;
    FifoTlb fifo;
    SetTlb sets; ///< if not isFifo
  };
  unsigned shift; ///< from a line's number to its page's
  uint64_t last;  ///< page that was looked up last
  std::vector<Level> levels;

  /// A hit changes nothing.
  bool hitsLeaveState() const { return levels.empty() || levels[0].isFifo; }
};

/// The caches behind the first for one page size, map and limit.
struct Core::Chain {
  unsigned page;    ///< position in WhatIf::pageBytes
  unsigned counter; ///< its first one
  unsigned memoryWrites;
  PageFrames frames;
  std::vector<CacheSets *> levels;

  uint64_t setOf(uint64_t line, unsigned level) {
    return level ? levels[level]->setOf(frames.physicalLine(line))
                 : frames.setOf(line);
  }
};

/// The first cache, for all limits that divide it alike.
struct Core::First {
  CacheSets cache;
  WayLimits ways;
  std::vector<unsigned> limits;
  std::vector<Chain *> chains; ///< behind it
};

/// A site on this core.
struct Core::Slot {
  explicit Slot(const Site &site)
      : key(uint64_t(site.sector) << 1 | uint64_t(site.store)),
        keyMask(site.store ? ~uint64_t(0) : ~uint64_t(1)), bytes(site.bytes),
        sector(site.sector), store(site.store) {}

  uint64_t line = noLine;     ///< of its last access
  uint64_t key;               ///< \see newest; without the line
  uint64_t keyMask;           ///< bits of a key that matter
  uint64_t pageLine = noLine; ///< that was looked up in the TLBs last
  uint64_t pageChanges = 0;   ///< of the core, then
  uint64_t accesses = 0;
  uint64_t run = 0; ///< of which it was a stream last
  unsigned bytes;
  uint8_t sector;
  bool store;
};

/// The site's last line once more, which is still the newest of its set, while
/// no TLB has changed, changes nothing.
inline bool Core::touch(unsigned site, uint64_t line, uint64_t end) {
  const Slot &slot = slots[site];
  if (line == slot.line && line == end && slot.pageChanges == pageChanges &&
      (newest[line & (newest.size() - 1)] & slot.keyMask) ==
          (line << 3 | slot.key))
    return true;
  return touchOther(site, line, end);
}

} // namespace mpg::sim

#endif // MPG_SIM_COREPARTS_H
