// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a core of the model consists of, for the two files that define Core.

#ifndef MPG_SIM_COREPARTS_H
#define MPG_SIM_COREPARTS_H

#include "Sim/FifoTlb.h"
#include "Sim/Model.h"

namespace mpg::sim {

/// The TLBs for pages of one size.
struct Core::Pages {
  struct Level {
    Level(const TlbArray &array, unsigned counter)
        : counter(counter), isFifo(array.replacement == Replacement::fifo &&
                                   array.ways == array.entries),
          fifo(array.entries), entries(array) {}

    bool access(uint64_t page) {
      return isFifo ? fifo.access(page)
                    : entries.access(page, page, 0, false).hit;
    }

    unsigned counter;
    bool isFifo;
    FifoTlb fifo;
    SetAssociative entries; ///< if not isFifo
  };
  unsigned shift; ///< from a line's number to its page's
  uint64_t last;  ///< page that was looked up last
  std::vector<Level> levels;
};

/// The caches behind the first for one page size, map and limit.
struct Core::Chain {
  unsigned page;    ///< position in WhatIf::pageBytes
  unsigned counter; ///< its first one
  unsigned memoryWrites;
  PageFrames frames;
  std::vector<SetAssociative *> levels;
};

/// A stream on its way.
struct Core::Cursor {
  unsigned site;
  unsigned bytes;
  uint64_t address;
  int64_t stride;
  uint64_t left; ///< iterations in which it stays in its line or lines
};

} // namespace mpg::sim

#endif // MPG_SIM_COREPARTS_H
