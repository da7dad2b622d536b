// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a core of the model, for the files that define Core.

#pragma once

#include "Sim/HeldLines.h"
#include "Sim/Model.h"
#include "Sim/Tlb.h"
#include <algorithm>

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
    void addState(uint64_t way, std::vector<uint64_t> &state) const {
      isFifo ? fifo.addState(way, state) : sets.addState(way, state);
    }
    bool isLru() const { return !isFifo && sets.isLru(); }
    void movePages(uint64_t way) {
      isFifo ? fifo.movePages(way) : sets.movePages(way);
    }

    unsigned counter;
    bool isFifo;
    FifoTlb fifo;
    SetTlb sets; ///< if not isFifo
  };
  unsigned shift;   ///< from a line's number to its page's
  uint64_t last;    ///< page that was looked up last
  uint64_t changes; ///< how often a TLB of them has changed
  std::vector<Level> levels;

  /// Whether \p page is in the first TLB, and its use changes nothing there.
  bool isUnchangedBy(uint64_t page) const {
    return !levels.empty() && levels[0].isFifo && levels[0].fifo.has(page);
  }
  /// A hit changes nothing.
  bool hitsLeaveState() const { return levels.empty() || levels[0].isFifo; }

  /// The state on which it depends which pages miss in the first TLB.
  void readFirst(std::vector<uint64_t> &state) const {
    state.assign(1, last);
    if (!levels.empty())
      levels[0].addState(0, state);
  }
  /// Whether the second TLB, if there is one, replaces the least recently used
  /// page.
  bool hasLruLast() const {
    return levels.size() < 2 || (levels.size() == 2 && levels[1].isLru());
  }

  /// The state that all ways would have had \p way pages earlier.
  std::vector<uint64_t> stateBefore(uint64_t way) const {
    std::vector<uint64_t> state = {last - way};
    for (const Level &level : levels)
      level.addState(way, state);
    return state;
  }
  void movePages(uint64_t way) {
    last += way;
    for (Level &level : levels)
      level.movePages(way);
  }
};

/// The caches after the first for one page size, map and limit.
struct Core::Chain {
  unsigned page;    ///< position in WhatIf::pageBytes
  unsigned counter; ///< its first one
  unsigned memoryWrites;
  PageFrames frames;
  std::vector<CacheSets *> levels;
  unsigned blockBits; ///< \see CacheSets::blockBitsIn; 0: none

  uint64_t getSet(uint64_t line, unsigned level) {
    return level ? levels[level]->getSet(frames.physicalLine(line))
                 : frames.getSet(line);
  }
};

/// A site on this core, in one line of the host.
struct alignas(64) Core::Slot {
  Slot(const Site &site, unsigned row)
      : key(uint64_t(site.sector) << 1 | uint64_t(site.store)),
        keyMask(site.store ? ~uint64_t(0) : ~uint64_t(1)), row(row),
        bytes(uint16_t(site.bytes)), sector(site.sector), store(site.store),
        zeroes(site.zeroes), prefetches(site.prefetches) {
    if (isSpecial()) { // no line is the newest for it
      key = 1;
      keyMask = 0;
    }
  }

  uint64_t line = noLine;     ///< of its last access
  uint64_t key;               ///< \see Lookup::newest; without the line
  uint64_t keyMask;           ///< bits of a key that matter
  uint64_t pageLine = noLine; ///< that was looked up in the TLBs last
  uint64_t pageChanges = 0;   ///< of the core, then
  uint64_t accesses = 0;
  uint64_t run = 0; ///< number of the leader that it had last
  unsigned row;     ///< of its counters
  uint16_t bytes;
  uint8_t sector;
  bool store;
  bool zeroes;
  uint8_t prefetches;

  /// Whether it is no load or store.
  bool isSpecial() const { return zeroes || prefetches; }
};

/// A request of the first cache to those after it.
struct Core::Request {
  Request(uint64_t line, unsigned row, uint8_t level, uint8_t sector,
          Count kind, bool isBeyond = false, bool isZero = false)
      : line(line), row(row), level(level), sector(sector), kind(kind),
        isBeyond(isBeyond), isZero(isZero) {}

  uint64_t line;
  unsigned row;  ///< of the site's counters
  uint8_t level; ///< that is asked first, 0 for the one after the first
  uint8_t sector;
  Count kind;    ///< writeBacks: the line is written, else read
  bool isBeyond; ///< the first cache did not ask for it
  bool isZero;   ///< of DC ZVA: memory is not read, no miss of it
};

/// The first cache, for all limits that divide it alike.
struct Core::First {
  static constexpr unsigned maxRequests = 1024;

  CacheSets cache;
  WayLimits ways;
  unsigned counter;            ///< the first one, of all of these limits
  PrefetchQueue queue;         ///< of what it misses
  std::vector<Chain *> chains; ///< after it
  std::vector<Request> requests;
  std::vector<Request> log;  ///< of a period or loop that may come again
  HeldLines held;            ///< by the caches after it, while none waits
  bool isHolding = false;    ///< few of the last requests missed there
  uint64_t missesBefore = 0; ///< of the queue, in front of the present period
  bool isQueueIdle = false;  ///< no miss in the last period
};

/// A loop that may come again, the states before and after it, its requests.
struct Core::PastLoop {
  std::vector<uint64_t> loop; ///< \see describeLoop; empty: none is recorded
  std::vector<unsigned> sites;
  std::vector<uint64_t> before, after, streams;
  std::vector<PrefetchQueue> queues; ///< of each of First, as what follows
  std::vector<std::vector<Request>> requests;
  unsigned unused = 0; ///< records in a row that no loop repeated
  unsigned wait = 0;   ///< loops to run before the next record
};

/// Bytes from an access of a stream to the next.
inline uint64_t getStep(const Stream &stream) {
  return stream.stride > 0 ? uint64_t(stream.stride) : -uint64_t(stream.stride);
}

/// Begins each operation: answers the waiting requests of another core first.
inline void Core::begin() {
  if (model.asking == this)
    return;
  if (model.asking)
    model.asking->letGo();
  model.asking = this;
}

/// Constructs the request in place, member by member. Copying a struct whose
/// members were just written would stall the host.
__attribute__((always_inline)) inline void
Core::append(std::vector<Request> &requests, const Request &wanted) {
  uint64_t line = wanted.line;
  unsigned row = wanted.row;
  uint8_t level = wanted.level, sector = wanted.sector;
  Count kind = wanted.kind;
  bool isBeyond = wanted.isBeyond, isZero = wanted.isZero;
  requests.emplace_back(line, row, level, sector, kind, isBeyond, isZero);
}

/// Passes a request of \p one to the caches after it. They answer when many
/// requests wait, and a line that all of them hold needs no request.
__attribute__((always_inline)) inline void
Core::request(First &one, const Request &wanted) {
  if (one.requests.size() >= First::maxRequests)
    answer(one);
  if (one.requests.empty()) {
    if (!wanted.level && one.held.use(wanted.line, wanted.sector,
                                      wanted.kind == Count::writeBacks))
      return;
    if (one.held.areWaiting())
      settleHeld(one);
  }
  append(one.requests, wanted);
}

/// A page that the site used before is in every TLB as long as none has
/// changed.
inline bool Core::isPageKnown(const Slot &slot, uint64_t line) const {
  return pagesApart || (slot.pageChanges == pageChanges &&
                        (slot.pageLine ^ line) >> pageShift == 0);
}

/// The line that was used last in its set is there for every limit, and the
/// newest one: used alike once more it changes nothing. A load after a store
/// of the line differs in the last bit alone. \p key and \p keyMask are those
/// of a site, \see Slot.
inline bool Core::isNewest(uint64_t line, uint64_t key,
                           uint64_t keyMask) const {
  return (looked[line & firstMask].newest & keyMask) == (line << 3 | key);
}

/// The line that the prefetcher fetches when it sees a site go from
/// \p previous to \p line; noLine: none, or an end of the page is in between.
inline uint64_t Core::computeAhead(uint64_t line, uint64_t previous) const {
  uint64_t way = line - previous;
  if (!linesAhead || !way || way + 1 > 2) // no neighbour
    return noLine;
  uint64_t target = line + way * linesAhead;
  return (target ^ line) >> pageShift ? noLine : target;
}

/// Whether that line is there: of several sites that walk along the same lines
/// only the first one fetches.
inline bool Core::isFetched(uint64_t target) const {
  return target == noLine || looked[target & firstMask].ahead == target;
}

/// To where it is in iteration \p now. \returns the bytes that both its first
/// and its last byte can go on in the block of 2^bits bytes that they are in.
inline uint64_t Core::place(Cursor &cursor, uint64_t now, unsigned bits) {
  int64_t stride = cursor.stream.stride;
  uint64_t address = cursor.stream.begin + uint64_t(stride) * now;
  uint64_t last = address + cursor.bytes - 1;
  cursor.line = address >> lineBits;
  cursor.end = last >> lineBits;
  uint64_t mask = (uint64_t(1) << bits) - 1;
  return stride > 0 ? mask - std::max(address & mask, last & mask)
                    : std::min(address & mask, last & mask);
}

/// A line that is still the newest of its set, on a page that is known, while
/// no TLB has changed and there is nothing to fetch, changes nothing.
inline bool Core::touch(unsigned site, uint64_t line, uint64_t end) {
  Slot &slot = slots[site];
  if (line == end && line == slot.line && isPageKnown(slot, line) &&
      isNewest(line, slot.key, slot.keyMask))
    return true;
  return touchAnew(slot, line, end);
}

} // namespace mpg::sim
