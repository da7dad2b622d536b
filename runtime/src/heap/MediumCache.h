// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Medium blocks that a thread has freed, to be used again without a lock and
// without cutting and joining runs of pages. Fewer bytes for each of many
// threads that share arenas, and never more than may stay free. What is not
// asked for any more makes room for what was asked for in vain.
//
// Blocks of up to 256 KiB have a list for each number of pages; malloc() and
// free() try these first. Longer ones have four lists a doubling.
//
// Not thread-safe: a cache is its thread's.

#ifndef MPG_RUNTIME_MEDIUMCACHE_H
#define MPG_RUNTIME_MEDIUMCACHE_H

#include "heap/HeapMedium.h"

namespace mpg {

class MediumCache {
public:
  static constexpr size_t maxBlockBytes = 256 << 10; ///< of acquire()
  static constexpr size_t maxLongBytes = 8 << 20;    ///< of acquireLong()

  /// From here on it keeps blocks of \p arena, as one of \p threads that may.
  void start(const Arena &arena, unsigned threads) MPG_REQUIRES(arena.lock);

  /// A block in use for \p bytes, at most maxBlockBytes and more than one page;
  /// null: none. It may have a quarter more pages than it needs.
  void *acquire(size_t bytes) {
    uint32_t pages = computePages(bytes, 16);
    uint64_t large = shortFilled >> (pages - minPages);
    if (large == 0)
      return nullptr;
    auto more = uint32_t(__builtin_ctzll(large));
    if (more > pages / 4)
      return nullptr;
    pages += more;
    uint32_t list = pages - minPages, page = first[list];
    UnitEntry &entry = heapMap.pages[page];
    MPG_CHECK(page && entry.state == UnitState::cached &&
              entry.length == pages && keptBytes >= pages * heapPageBytes);
    uint32_t next = entry.next;
    first[list] = next;
    shortFilled &= ~(uint64_t(next == 0) << list);
    keptBytes -= pages * heapPageBytes;
    entry.state = UnitState::used;
    uintptr_t start = addressOfPage(page) + entry.detail * colorStepBytes;
    // Its edges are there: they were right when it was freed.
    if (entry.previous == bytes)
      return reinterpret_cast<void *>(start);
    uintptr_t end = addressOfPage(page + pages);
    if (__builtin_expect(start + bytes > end, 0)) {
      fitStart(entry, bytes);
      start = addressOfPage(page) + entry.detail * colorStepBytes;
    }
    return writeEdges(entry, start, end, bytes);
  }

  /// The same for more than maxBlockBytes, at most maxLongBytes.
  uint32_t acquireLong(size_t bytes);

  /// Called when there was no block of \p bytes.
  void noteMiss(size_t bytes) {
    bytes = computePages(bytes, 16) * heapPageBytes;
    size_t max = limit();
    if (keptBytes + bytes > max && bytes <= max)
      missedBytes = missedBytes + bytes < max ? missedBytes + bytes : max;
  }

  /// Frees a block of up to maxBlockBytes. False: it is longer, or belongs to
  /// another arena, or there is no room. pre: its entry is `used`.
  bool recycle(uint32_t page, UnitEntry &entry) {
    MPG_CHECK(entry.state == UnitState::used);
    uint32_t pages = entry.length, list = pages - minPages;
    if (entry.owner != owner || list >= shortLists ||
        keptBytes + pages * heapPageBytes > limit())
      return false;
    keptBytes += pages * heapPageBytes;
    entry.next = first[list];
    entry.state = UnitState::cached;
    first[list] = page;
    shortFilled |= uint64_t(1) << list;
    return true;
  }

  /// The same for a block of any length, which may be too long.
  bool recycleLong(uint32_t page);

  /// The same where there was no room: moves others to the arena, as many as
  /// there were requests that none of them could serve.
  bool recycleForOthers(uint32_t page);

  size_t bytes() const { return keptBytes; }

  /// Called before the arena grows for \p bytes: frees half of the blocks into
  /// it, as they separate free pages that may be long enough together. Not all:
  /// those that come and go would be missed at once. False: they are few.
  bool shrinkFor(size_t bytes);

  /// Frees all blocks into the arenas, and keeps none from here on.
  void clear();

private:
  static constexpr uint32_t minPages = 2, shortLists = 64, longLists = 21;
  static constexpr uint32_t minLongPages = 64; ///< of the first long list
  static_assert(minPages + shortLists - 1 == maxBlockBytes / heapPageBytes + 1,
                "one more page for the shift");

  /// The list of blocks of \p pages; shortLists + longLists or more: too long.
  static uint32_t getList(uint32_t pages) {
    MPG_CHECK(pages >= minPages);
    if (pages - minPages < shortLists)
      return pages - minPages;
    auto high = 31u - uint32_t(__builtin_clz(pages));
    constexpr uint32_t lowHigh = 6; // minLongPages
    return shortLists + (high - lowHigh) * 4 + (pages >> (high - 2) & 3);
  }

  size_t limit() const {
    uint64_t trim = arenaSettings.trimBytes.load(std::memory_order_relaxed);
    return trim < maxBytes ? trim : maxBytes;
  }

  void insert(uint64_t &lists, uint32_t list, uint32_t page) {
    UnitEntry &entry = heapMap.pages[page];
    keptBytes += entry.length * heapPageBytes;
    entry.next = first[list];
    entry.state = UnitState::cached;
    first[list] = page;
    lists |= uint64_t(1) << list % 64;
  }

  /// Takes the block out that \p link, of one of \p lists, leads to.
  void remove(uint64_t &lists, uint32_t list, uint32_t *link) {
    const UnitEntry &entry = heapMap.pages[*link];
    MPG_CHECK(*link && entry.state == UnitState::cached &&
              keptBytes >= entry.length * heapPageBytes);
    keptBytes -= entry.length * heapPageBytes;
    *link = entry.next;
    lists &= ~(uint64_t(first[list] == 0) << list % 64);
  }

  /// A block that was taken out becomes one for \p bytes.
  static uint32_t use(uint32_t page, size_t bytes) {
    UnitEntry &entry = heapMap.pages[page];
    entry.state = UnitState::used;
    fitStart(entry, bytes);
    return page;
  }

  /// A block that was for less, with more room for the shift, keeps the lower
  /// one that it gets.
  static void fitStart(UnitEntry &entry, size_t bytes) {
    size_t places = (entry.length * heapPageBytes - bytes) / colorStepBytes;
    if (entry.detail > places)
      entry.detail = uint8_t(places);
  }

  static bool isLong(uint32_t list) { return list >= shortLists; }
  uint64_t &getFilled(uint32_t list) {
    return isLong(list) ? longFilled : shortFilled;
  }
  void releaseNext();

  uint32_t owner = UINT32_MAX; ///< no arena
  uint32_t turn = 0;           ///< the list that gives one away next
  size_t keptBytes = 0, maxBytes = 0;
  size_t fewBytes = 0;    ///< not worth a search for free memory
  size_t missedBytes = 0; ///< asked for in vain while there was no room
  uint64_t shortFilled = 0, longFilled = 0; ///< lists that are not empty
  uint32_t first[shortLists + longLists] = {};
};

} // namespace mpg

#endif // MPG_RUNTIME_MEDIUMCACHE_H
