// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where pages lie in physical memory, and in which core group's. A system hands
// out the page that is free, so which lines compete for a set of a physically
// indexed cache is chance. A map is drawn by a seed; counts of several maps
// show how much chance there is.

#pragma once

#include "Sim/CacheSets.h"
#include <unordered_map>

namespace mpg::sim {

/// The finaliser of splitmix64: a bijection of 64 bits.
inline uint64_t mixBits(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// One map of pages of one size. Two pages may get one frame: lines keep their
/// virtual number, so that only their sets are the same then.
class PageFrames {
public:
  /// \p linesOfPage and \p frames are powers of two. Seed 0 is virtual =
  /// physical.
  PageFrames(uint64_t seed, uint64_t linesOfPage, uint64_t frames)
      : seed(seed), lineMask(linesOfPage - 1), pageBits(exactLog2(linesOfPage)),
        physicalFrameMask(frames - 1) {}

  /// Sets the cache of getSet. Call once, before getSet.
  void use(const CacheSets &newCache) {
    cache = &newCache;
    isLinear = cache->isLinearIn(lineMask + 1);
  }

  uint64_t physicalLine(uint64_t line) {
    return getFrame(line).firstLine | (line & lineMask);
  }
  /// The set of \p line in the cache.
  uint64_t getSet(uint64_t line) {
    if (!isLinear)
      return cache->getSet(physicalLine(line));
    return getFrame(line).set ^ (line & lineMask & cache->mask());
  }

private:
  struct Frame {
    uint64_t page = ~uint64_t(0);
    uint64_t firstLine = 0;
    uint64_t set = 0; ///< of the first line
  };

  const Frame &getFrame(uint64_t line) {
    uint64_t page = line >> pageBits;
    Frame &frame = known[page * 0x9e3779b97f4a7c15 >> 56];
    if (frame.page != page)
      find(page, frame);
    return frame;
  }
  void find(uint64_t page, Frame &frame) {
    uint64_t number = page;
    if (seed)
      number = mixBits(page + seed * 0x9e3779b97f4a7c15) & physicalFrameMask;
    frame = {page, number << pageBits, 0};
    if (cache)
      frame.set = cache->getSet(frame.firstLine);
  }

  uint64_t seed;
  uint64_t lineMask;
  unsigned pageBits;
  uint64_t physicalFrameMask;
  const CacheSets *cache = nullptr;
  bool isLinear = false;
  std::array<Frame, 256> known; ///< found last, by hash
};

enum class PlacementPolicy : uint8_t {
  firstTouch, ///< the group that reads or writes the page first
  oneGroup,   ///< all on group 0: paged in by one thread at the start
  interleave, ///< page by page round the groups
};

/// Which core group's memory a page lies in. First touch remembers each page
/// that was touched, a byte for each of 64 neighbours at once: less than two
/// bytes a page where memory is dense.
class PageNodes {
public:
  PageNodes(PlacementPolicy policy, unsigned groups)
      : policy(policy), groups(groups) {}

  /// The group of \p page, which a core of \p group reads or writes.
  unsigned getGroup(uint64_t page, unsigned group) {
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
