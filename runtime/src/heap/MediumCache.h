// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Medium blocks that a thread has freed, to be used again without a lock and
// without cutting and joining runs of pages. Fewer bytes for each of many
// threads that share arenas, and never more than may stay free. What is not
// asked for any more makes room for what was asked for in vain.
//
// Blocks of up to 256 KiB have a list for each number of pages; malloc() and
// free() try these first. Longer ones have four lists a doubling. Before them
// malloc() looks at the block that was freed last.
//
// Not thread-safe: a cache is its thread's.

#pragma once

#include "heap/HeapMedium.h"

namespace mpg {

class MediumCache {
public:
  static constexpr size_t maxBlockBytes = 256 << 10; ///< of acquire()
  static constexpr size_t maxLongBytes = 8 << 20;    ///< of acquireLong()

  /// From here on it keeps blocks of \p arena, as one of \p threads that may.
  void start(const Arena &arena, unsigned threads) MPG_REQUIRES(arena.lock);

  /// Until start() has the room computed it keeps nothing: the threshold for
  /// trimming has changed. Any thread may call it.
  void forgetRoom() {
    inspectNextFree();
    maxBytes.store(0, std::memory_order_relaxed);
  }

  /// The next recycleAgain() is false. Any thread may call it.
  void inspectNextFree() { lastSize.store(0, std::memory_order_relaxed); }

  /// Whether acquireLast() has a block for \p bytes, more than one page.
  bool isForLast(size_t bytes) const { return bytes == lastBytes; }
  void *acquireLast() {
    MPG_CHECK(lastBytes && last->state == UnitState::cached &&
              uintptr_t(lastBlock) + lastBytes <=
                  addressOfPage(uint32_t(last - heapMap.pages) + last->length));
    last->setHead(lastHead);
    lastBytes = 0;
    return lastBlock;
  }

  /// Whether acquireLast() gave \p block out, and nothing was freed since.
  bool isLast(void *block) const { return block == lastBlock; }
  /// Frees \p block. False: another thread has freed it and got it again, or
  /// has called inspectNextFree(). pre: isLast()
  bool recycleAgain(void *block) {
    UnitEntry *entry = last;
    uint32_t head = lastHead;
    uint64_t size = lastSize.load(std::memory_order_relaxed);
    if (__builtin_expect(entry->head() != head, 0) ||
        __builtin_expect(entry->size() != size, 0) ||
        __builtin_expect(!edgesAreRight(*entry, uintptr_t(block)), 0))
      return false;
    MPG_CHECK(!lastBytes && mayHave(head) && size >> 32);
    lastBytes = size >> 32;
    entry->setHead(head ^ usedToCached);
    return true;
  }

  /// Whether malloc() may call find(): other blocks may have to be mapped.
  bool isForLists(size_t bytes) const { return bytes <= maxListedBytes; }

  /// Whether a block waits for acquireLast(), and none of find() may be taken
  /// before leaveLast().
  bool hasLast() const { return lastBytes != 0; }
  /// Puts that block into its list, and so many that follow it at once.
  void leaveLast();

  /// The lists whose blocks serve for \p bytes, at most maxBlockBytes and more
  /// than one page; 0: none. They may have a quarter more pages than needed.
  /// pre: not hasLast()
  uint64_t find(size_t bytes) const {
    MPG_CHECK(!lastBytes);
    uint32_t step = uint32_t(bytes + colorStepBytes - 1) / colorStepBytes;
    return shortFilled & tables.listsFor[firstList[step]];
  }

  /// A block in use for \p bytes. pre: \p lists is find(bytes), and not 0
  void *acquire(uint64_t lists, size_t bytes) {
    auto list = uint32_t(__builtin_ctzll(lists));
    uint32_t page = first[list];
    UnitEntry &entry = heapMap.pages[page];
    size_t blockBytes = (list + minPages) * heapPageBytes;
    MPG_CHECK(page && entry.state == UnitState::cached &&
              entry.length == list + minPages && keptBytes >= blockBytes);
    uint32_t next = entry.next, edgedBytes = entry.previous;
    first[list] = next;
    shortFilled ^= uint64_t(next == 0) << list;
    keptBytes -= blockBytes;
    uintptr_t pages = addressOfPage(page);
    uint32_t head = entry.head() ^ usedToCached;
    size_t shift = getShift(head);
    entry.next = uint32_t(bytes);
    // Its edges are there: they were right when it was freed.
    if (edgedBytes != bytes) {
      // A block that was for less may begin too late for more.
      size_t max = (blockBytes - bytes) / colorStepBytes * colorStepBytes;
      if (__builtin_expect(shift > max, 0)) {
        head -= uint32_t(shift - max) << (UnitEntry::detailAt - 8);
        shift = max;
        edgedBytes = 0;
      }
      writeEdges(entry, pages + shift, pages + blockBytes, bytes, edgedBytes);
    }
    entry.setHead(head);
    return reinterpret_cast<void *>(pages + shift);
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

  /// Whether \p block, on the page of \p entry with \p head, is one in use that
  /// it may keep, and its edges are as they were left.
  bool isRight(void *block, const UnitEntry &entry, uint32_t head) const {
    auto inPage = uint32_t(uintptr_t(block) % heapPageBytes);
    uint32_t detail = inPage / colorStepBytes << UnitEntry::detailAt;
    return __builtin_expect(inPage % colorStepBytes == 0, 1) &&
           __builtin_expect(head == usedHead + detail, 1) &&
           __builtin_expect(hasRightEdges(entry, uintptr_t(block)), 1);
  }

  /// Frees a block of up to maxBlockBytes, the one of \p page. False: it is
  /// longer, or more than the cache may keep. pre: isRight()
  bool recycle(void *block, UnitEntry &entry, uint32_t page, uint32_t head) {
    MPG_CHECK(&entry == &heapMap.pages[page] && mayHave(head) &&
              entry.state == UnitState::used);
    uint32_t length = entry.length, list = length - minPages;
    size_t bytes = keptBytes + length * heapPageBytes;
    if (__builtin_expect(list >= shortLists, 0) ||
        __builtin_expect(!mayKeep(bytes), 0))
      return false;
    if (lastBytes) {
      if (!mayKeep(bytes + last->length * heapPageBytes))
        return false;
    } else if (toLists) {
      --toLists;
    } else if (mayBeLast(entry)) {
      setLast(block, entry, head);
      return true;
    } else {
      lastBlock = nullptr;
    }
    keptBytes = bytes;
    link(entry, page, list, shortFilled);
    entry.setHead(head ^ usedToCached);
    return true;
  }

  /// The same for a block of any length, which may be too long.
  bool recycleLong(uint32_t page);

  /// The same where there was no room: moves others to the arena, as many as
  /// there were requests that none of them could serve.
  bool recycleForOthers(uint32_t page);

  /// Called when \p bytes have gone to the arena that had no room here. A
  /// thread that frees several times what it keeps, and asks for nothing
  /// meanwhile, may need none of it: its blocks go, too, for each holds a large
  /// page. It keeps blocks again after its next request, and longer each time.
  void notePassed(size_t bytes);

  /// Moves the block that was freed last to its list. False: there was none.
  bool settle();

  size_t bytes() {
    settle();
    return keptBytes;
  }

  /// Called before the arena grows for \p bytes: frees half of the blocks into
  /// it, as they separate free pages that may be long enough together. Not all:
  /// those that come and go would be missed at once. False: they are few.
  bool shrinkFor(size_t bytes);

  /// Frees all blocks into the arenas, and keeps none from here on.
  void clear();

private:
  static constexpr size_t maxRoomBytes = 16 << 20; ///< of few threads
  static constexpr uint32_t minPages = 2, shortLists = 64, longLists = 21;
  /// Blocks that go to their lists after one that malloc() did not want.
  static constexpr uint32_t many = 32;
  static constexpr uint32_t usedToCached = 1 << UnitEntry::stateAt;
  static_assert((uint8_t(UnitState::used) ^ 1) == uint8_t(UnitState::cached));
  static_assert(minPages + shortLists - 1 == maxBlockBytes / heapPageBytes + 1,
                "one more page for the shift");

  struct Tables {
    /// For each colour step up to maxBlockBytes, not coloured or coloured: the
    /// list of blocks that are long enough.
    uint8_t firstList[2][maxBlockBytes / colorStepBytes + 1] = {};
    /// For each list, that one and those that are at most a quarter longer.
    uint64_t listsFor[shortLists] = {};
  };
  static constexpr Tables makeTables();
  static const Tables tables __attribute__((visibility("hidden")));

  /// The list of blocks of \p pages; shortLists + longLists or more: too long.
  static uint32_t getList(uint32_t pages) {
    MPG_CHECK(pages >= minPages);
    if (pages - minPages < shortLists)
      return pages - minPages;
    auto high = 31u - uint32_t(__builtin_clz(pages));
    constexpr uint32_t lowHigh = 6; // the first long list is of 64 pages
    return shortLists + (high - lowHigh) * 4 + (pages >> (high - 2) & 3);
  }

  /// Whether \p head is of a block in use that it may keep.
  bool mayHave(uint32_t head) const {
    return (head & ~(uint32_t(0xff) << UnitEntry::detailAt)) == usedHead;
  }

  // As the functions of HeapMedium.h, without a branch by whether there are
  // edges: where blocks of many sizes come and go, it would often be
  // mispredicted. A block without them has those of `spare`.
  static uintptr_t orSpare(uintptr_t isOwn, uintptr_t address,
                           const uint64_t &spared) {
    auto other = uintptr_t(&spared);
    return other ^ ((other ^ address) & isOwn);
  }
  /// \p frontBytes: 0 if the edge in front may not be there yet.
  void writeEdges(UnitEntry &entry, uintptr_t start, uintptr_t end,
                  size_t bytes, uint32_t frontBytes) {
    uintptr_t tail = start + computeTail(bytes);
    size_t max = arenaSettings.maxEdgedBytes;
    // One comparison, as each of the two conditions is often mispredicted.
    size_t bytesOfNew = bytes | -size_t(frontBytes != 0);
    if (__builtin_expect(bytesOfNew <= max, 0) && hasFront(start))
      edgeAt(start - 8) = computeEdge(start - 8);
    // By the sign: of a comparison the compiler makes a branch.
    auto both = int64_t(bytes - max - 1) & int64_t(tail + 7 - end);
    auto hasEdges = uintptr_t(both >> 63);
    tail = orSpare(hasEdges, tail, spare.tail);
    edgeAt(tail) = computeEdge(tail);
    __atomic_store_n(&entry.previous, uint32_t(bytes & hasEdges),
                     __ATOMIC_RELEASE);
  }
  bool hasRightEdges(const UnitEntry &entry, uintptr_t start) const {
    uint32_t bytes = __atomic_load_n(&entry.previous, __ATOMIC_ACQUIRE);
    start = orSpare(-uintptr_t(bytes != 0), start, spare.block);
    uintptr_t tail = start + computeTail(bytes);
    return __builtin_expect(isEdge(tail), 1) &&
           (!hasFront(start) || isEdge(start - 8));
  }

  size_t limit() const { return maxBytes.load(std::memory_order_relaxed); }
  bool mayKeep(size_t bytes) const { return bytes <= limit(); }

  /// Whether acquireLast() may give the block of \p entry, in use, out again.
  bool mayBeLast(const UnitEntry &entry) const {
    return entry.next != 0 && maxListedBytes != 0;
  }
  /// Frees the \p block of \p entry, in use. pre: mayBeLast()
  void setLast(void *block, UnitEntry &entry, uint32_t head) {
    last = &entry;
    lastBytes = entry.next;
    lastBlock = block;
    lastHead = head;
    lastSize.store(entry.size(), std::memory_order_relaxed);
    entry.setHead(head ^ usedToCached);
  }
  void forgetLast() {
    lastBytes = 0;
    lastBlock = nullptr;
  }

  /// Puts a block into a list, of those that \p lists says are not empty.
  void insert(uint32_t page, uint32_t list, uint64_t &lists) {
    UnitEntry &entry = heapMap.pages[page];
    keptBytes += entry.length * heapPageBytes;
    link(entry, page, list, lists);
  }
  void link(UnitEntry &entry, uint32_t page, uint32_t list, uint64_t &lists) {
    entry.next = first[list];
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

  // The block that was freed last is in no list: the next malloc() of as many
  // bytes takes it with little to do, and the next free() of it.
  UnitEntry *last = nullptr;
  size_t lastBytes = 0;              ///< that were asked for; 0: it is not free
  void *lastBlock = nullptr;         ///< null: none
  uint32_t lastHead = 0;             ///< of its entry while it is in use
  std::atomic<uint64_t> lastSize{0}; ///< the same; 0: not for recycleAgain()
  uint32_t toLists = 0; ///< so many blocks go to their lists at once

  static constexpr uint32_t noHead = uint32_t(1) << 31; ///< of no state
  uint32_t usedHead = noHead; ///< of blocks that it may keep
  uint32_t turn = 0;          ///< the list that gives one away next
  const uint8_t *firstList = tables.firstList[1];
  size_t maxListedBytes = 0; ///< of malloc(), see isForLists()
  size_t keptBytes = 0;
  std::atomic<size_t> maxBytes{0}; ///< at most what may stay free
  size_t fewBytes = 0;             ///< not worth a search for free memory
  size_t missedBytes = 0; ///< asked for in vain while there was no room
  size_t passedBytes = 0; ///< of notePassed(), since the last request
  size_t keptAtPass = 0;  ///< then: less now means that there was a request
  size_t times = 4;       ///< what it keeps may pass before all of it goes
  /// A block of no bytes with its edges.
  struct {
    uint64_t front = 0, block = 0, tail = 0;
  } spare;
  uint64_t shortFilled = 0, longFilled = 0; ///< lists that are not empty
  uint32_t first[shortLists + longLists] = {};
};

} // namespace mpg
