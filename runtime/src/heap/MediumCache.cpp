// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MediumCache.h.

#include "heap/MediumCache.h"

#include "base/AllocationSites.h"
#include "heap/Collapse.h"
#include "heap/HeapLarge.h"

using namespace mpg;

constexpr MediumCache::Tables MediumCache::makeTables() {
  Tables made;
  for (unsigned isColored = 0; isColored < 2; ++isColored)
    for (size_t step = 0; step <= maxBlockBytes / colorStepBytes; ++step) {
      size_t bytes = step * colorStepBytes;
      uint32_t pages = countPages(bytes, isColored && bytes >= minColoredBytes);
      if (pages > minPages)
        made.firstList[isColored][step] = uint8_t(pages - minPages);
    }
  for (uint32_t list = 0; list < shortLists; ++list)
    for (uint32_t more = 0; more <= (list + minPages) / 4; ++more)
      if (list + more < shortLists)
        made.listsFor[list] |= uint64_t(1) << (list + more);
  return made;
}

const MediumCache::Tables MediumCache::tables = makeTables();

void MediumCache::start(const Arena &arena, unsigned threads) {
  // One block of 1 MiB with its shift, in each of 64 threads. One cache more is
  // there for threads that are past their end.
  constexpr size_t min = (1 << 20) + heapPageBytes;
  constexpr size_t maxFewThreadsBytes = 32 << 20,
                   maxManyThreadsBytes = 65 * min;
  constexpr uint64_t share = 2; // 4: blocks that come and go were missed
  usedHead = arena.number() | uint32_t(UnitState::used) << UnitEntry::stateAt;
  lastSize.store(0, std::memory_order_relaxed);
  static_assert(computeTail(0) == sizeof spare.block, "as `spare`");
  spare.front = computeEdge(uintptr_t(&spare.front));
  spare.tail = computeEdge(uintptr_t(&spare.tail));
  bool isColored = arenaSettings.coloring.load(std::memory_order_relaxed);
  firstList = tables.firstList[isColored];
  maxListedBytes = largeSettings.always ? 0 : maxBlockBytes;
  fewBytes = arena.mapped() / share;
  passedBytes = 0;
  size_t room = maxRoomBytes;
  if (!eachThreadHasArena() && threads > maxFewThreadsBytes / maxRoomBytes)
    room = threads <= maxFewThreadsBytes / min ? maxFewThreadsBytes / threads
           : threads <= maxManyThreadsBytes / min
               ? min
               : maxManyThreadsBytes / threads;
  uint64_t trim = arenaSettings.trimBytes.load(std::memory_order_relaxed);
  maxBytes.store(trim < room ? trim : room, std::memory_order_relaxed);
}

bool MediumCache::settle() {
  if (!lastBytes)
    return false;
  uint32_t list = getList(last->length);
  insert(uint32_t(last - heapMap.pages), list, getFilled(list));
  forgetLast();
  return true;
}

void MediumCache::leaveLast() {
  settle();
  toLists = many;
}

uint32_t MediumCache::acquireLong(size_t bytes) {
  constexpr uint32_t aMoment = 4;
  settle();
  uint32_t min = computePages(bytes, 16), max = min + min / 4;
  // A quarter more pages: the list that has such blocks, and the next one.
  uint32_t list = getList(min), last = list + 1;
  for (; list <= last && list < shortLists + longLists; ++list) {
    uint32_t *link = &first[list];
    for (uint32_t left = aMoment; *link && left; --left) {
      UnitEntry &entry = heapMap.pages[*link];
      if (min <= entry.length && entry.length <= max) {
        uint32_t page = *link;
        remove(getFilled(list), list, link);
        return use(page, bytes);
      }
      link = &entry.next;
    }
  }
  return 0;
}

bool MediumCache::recycleLong(uint32_t page) {
  UnitEntry &entry = heapMap.pages[page];
  MPG_CHECK(isMediumBlock(entry.state));
  // One more page for the shift.
  constexpr uint32_t maxPages = maxLongBytes / heapPageBytes + 1;
  settle();
  // A single page is of a request for a large alignment.
  uint32_t head = entry.head();
  if (!mayHave(head) || entry.length < minPages || entry.length > maxPages ||
      !mayKeep(keptBytes + entry.length * heapPageBytes))
    return false;
  // Where each malloc() has something to do, it looks at the lists.
  if (!toLists && mayBeLast(entry) &&
      !isCollapseDue.load(std::memory_order_relaxed) &&
      watchedBytes == SIZE_MAX) {
    setLast(reinterpret_cast<void *>(mediumBlock(page).start), entry, head);
    return true;
  }
  toLists -= toLists != 0;
  uint32_t list = getList(entry.length);
  insert(page, list, getFilled(list));
  lastBlock = nullptr;
  entry.setHead(head ^ usedToCached);
  return true;
}

bool MediumCache::recycleForOthers(uint32_t page) {
  settle();
  const UnitEntry &entry = heapMap.pages[page];
  size_t bytes = entry.length * heapPageBytes;
  if (!mayHave(entry.head()) || bytes > missedBytes || bytes > limit())
    return false;
  missedBytes -= bytes;
  while (keptBytes && keptBytes + bytes > limit())
    releaseNext();
  return recycleLong(page);
}

void MediumCache::notePassed(size_t bytes) {
  if (!keptBytes)
    return; // also in the cache of threads that have none
  passedBytes = keptBytes < keptAtPass ? bytes : passedBytes + bytes;
  keptAtPass = keptBytes;
  size_t max = limit();
  // A single thread's memory is more likely to be needed again.
  size_t enough = times * max * (max == maxRoomBytes ? 2 : 1);
  if (passedBytes < enough ||
      arenaSettings.trimBytes.load(std::memory_order_relaxed) == UINT64_MAX)
    return;
  clear();
  if (max) // 0: mallopt() has changed it
    times *= 2;
}

/// Gives one block to the arena: one list after the other.
void MediumCache::releaseNext() {
  constexpr uint32_t lists = shortLists + longLists;
  while (!first[turn])
    turn = (turn + 1) % lists;
  uint32_t page = first[turn];
  remove(getFilled(turn), turn, &first[turn]);
  turn = (turn + 1) % lists;
  arenaAt(heapMap.pages[page].owner).free(page);
}

bool MediumCache::shrinkFor(size_t bytes) {
  settle();
  if (keptBytes == 0 || (keptBytes < fewBytes && bytes <= maxBlockBytes))
    return false;
  for (size_t half = keptBytes / 2; keptBytes > half;)
    releaseNext();
  return true;
}

void MediumCache::clear() {
  // First, so that nothing enters while its blocks leave.
  usedHead = noHead;
  forgetRoom();
  missedBytes = 0;
  settle();
  while (keptBytes)
    releaseNext();
}
