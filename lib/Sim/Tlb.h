// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One level of a TLB, for pages of one size: fully associative and first in
// first out, as the A64FX's first, or in sets.

#pragma once

#include "Sim/SimMachine.h"
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace mpg::sim {

/// Fully associative. It is asked at nearly every access, so it is not
/// searched: a table by hash has the page of each hash that was used last, and
/// how many pages of it there are.
class FifoTlb {
public:
  explicit FifoTlb(unsigned entries) : pages(entries, noPage) {}

  /// True: it is there. False: it may be there, too.
  bool has(uint64_t page) const {
    return buckets[getBucket(page)].page == page;
  }
  /// Whether \p page was there; it is now.
  bool access(uint64_t page) {
    Bucket &bucket = buckets[getBucket(page)];
    if (bucket.page == page)
      return true;
    bool isThere = bucket.count &&
                   std::find(pages.begin(), pages.end(), page) != pages.end();
    bucket.page = page;
    if (isThere)
      return true;
    if (uint64_t left = pages[oldest]; left != noPage) {
      Bucket &its = buckets[getBucket(left)];
      --its.count;
      if (its.page == left)
        its.page = noPage;
    }
    pages[oldest] = page;
    ++bucket.count;
    oldest = oldest + 1 == pages.size() ? 0 : oldest + 1;
    return false;
  }

  /// Adds all that decides what comes next, as if each page were \p way less.
  void addState(uint64_t way, std::vector<uint64_t> &state) const {
    auto add = [&](size_t begin, size_t end) {
      for (size_t at = begin; at < end; ++at)
        state.push_back(pages[at] == noPage ? noPage : pages[at] - way);
    };
    add(oldest, pages.size());
    add(0, oldest);
  }
  /// Each page becomes the one \p way further on.
  void movePages(uint64_t way) {
    buckets = {};
    for (uint64_t &page : pages) {
      if (page == noPage)
        continue;
      page += way;
      Bucket &bucket = buckets[getBucket(page)];
      bucket.page = page;
      ++bucket.count;
    }
  }

private:
  static constexpr uint64_t noPage = ~uint64_t(0);
  struct Bucket {
    uint64_t page = noPage; ///< one that is there
    uint64_t count = 0;     ///< of those that are
  };

  static unsigned getBucket(uint64_t page) {
    return unsigned(page * 0x9e3779b97f4a7c15 >> 56);
  }

  std::vector<uint64_t> pages;
  std::array<Bucket, 256> buckets = {};
  unsigned oldest = 0;
};

/// A set is a list, the newest page first: by use for LRU, by fill for FIFO. So
/// the victim is the last entry, and a hit at the front, which most are,
/// changes nothing.
class SetTlb {
public:
  explicit SetTlb(const TlbArray &array)
      : pages(array.entries, ~uint64_t(0)), sets(array.entries / array.ways),
        ways(array.ways), lru(array.replacement == Replacement::lru) {}

  /// Whether \p page was there; it is now.
  bool access(uint64_t page) {
    // A remainder by a power of two is the rule, and quicker as a mask.
    uint64_t place = sets & (sets - 1) ? page % sets : page & (sets - 1);
    uint64_t *set = &pages[place * ways];
    unsigned way = 0;
    while (way < ways && set[way] != page)
      ++way;
    bool hit = way < ways;
    if (hit && !lru)
      return true;
    for (way = hit ? way : ways - 1; way; --way)
      set[way] = set[way - 1];
    set[0] = page;
    return hit;
  }

  bool isLru() const { return lru; }

  /// \see FifoTlb. Sets turn with the pages.
  void addState(uint64_t way, std::vector<uint64_t> &state) const {
    size_t turn = getTurn(way);
    for (size_t at = 0; at < pages.size(); ++at) {
      uint64_t page = pages[(at + turn) % pages.size()];
      state.push_back(page == ~uint64_t(0) ? page : page - way);
    }
  }
  void movePages(uint64_t way) {
    std::rotate(pages.begin(), pages.end() - ptrdiff_t(getTurn(way)),
                pages.end());
    for (uint64_t &page : pages)
      page += page == ~uint64_t(0) ? 0 : way;
  }

private:
  /// Entries from a page's set to that of the page \p way further on; \p way
  /// may be negative.
  size_t getTurn(uint64_t way) const {
    int64_t turn = int64_t(way) % int64_t(sets);
    return size_t(turn < 0 ? turn + int64_t(sets) : turn) * ways;
  }

  std::vector<uint64_t> pages;
  uint64_t sets;
  unsigned ways;
  bool lru;
};

} // namespace mpg::sim
