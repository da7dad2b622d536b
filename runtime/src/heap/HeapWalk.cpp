// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapWalk.h.

#include "heap/HeapWalk.h"

using namespace mpg;

HeapHeld::~HeapHeld() {
  heapSpace.unlockAll(/*inChild=*/false);
  unlockArenas(/*inChild=*/false);
  unlockCaches(/*inChild=*/false);
  // Caches without a thread were kept: what was sent to them meanwhile has
  // nobody else to see to it.
  settleCaches();
}

void mpg::settleCaches() {
  // None: the thread is past its end, and what it frees goes home at once.
  if (ThreadCache *cache = ownCache()) {
    cache->flush();
    cache->collect();
  }
  lateCache()->collect();
  doneWithLateCache();
  // New ones come at the front, and none ever goes.
  for (ThreadCache *cache = firstCache(); cache; cache = cache->nextOfAll)
    if (cache->state.load(std::memory_order_seq_cst) ==
        ThreadCache::State::abandoned)
      cache->tidy();
}

/// Pages of a run whose first entry is \p entry; 0: it cannot be one.
static uint32_t lengthOf(const UnitEntry &entry, uint32_t page, uint32_t end) {
  constexpr uint32_t slabPages = slabGranuleBytes / heapPageBytes;
  auto granulePages = uint32_t(heapSpace.granuleBytes() / heapPageBytes);
  // Owners of pages may be free()ing them at this moment: state, then length.
  auto state = UnitState(__atomic_load_n(
      reinterpret_cast<const uint8_t *>(&entry.state), __ATOMIC_ACQUIRE));
  uint32_t length = __atomic_load_n(&entry.length, __ATOMIC_RELAXED);
  bool isInside = length <= end - page;
  switch (state) {
  case UnitState::inside: // of nothing: no tile begins within another one
    return page % granulePages == 0 ? granulePages : 0;
  case UnitState::slabs: // the length is a set of slabs
    return page % slabPages == 0 && slabPages <= end - page ? slabPages : 0;
  case UnitState::large:
    return isInside && page % granulePages == 0 && length % granulePages == 0
               ? length
               : 0;
  case UnitState::free: {
    if (!isInside || length == 0)
      return 0;
    const UnitEntry &last = heapMap.pages[page + length - 1];
    return last.state == UnitState::free && last.length == length ? length : 0;
  }
  case UnitState::used:
  case UnitState::cached:
    return isInside ? length : 0;
  case UnitState::mapped: // entries of the other table
  case UnitState::lost:
    break;
  }
  return 0;
}

HeapTile mpg::readTile(uint32_t page, uint32_t endPage) {
  const UnitEntry &entry = heapMap.pages[page];
  uint32_t length = lengthOf(entry, page, endPage);
  HeapTile tile{page, length, entry.state, entry.owner, length == 0};
  bool isOfArena =
      tile.state != UnitState::inside && tile.state != UnitState::large;
  if (isOfArena && tile.owner >= arenaCount())
    tile.isBroken = true;
  if (tile.isBroken) {
    uint64_t next =
        roundUp(uint64_t(page) + 1, heapSpace.granuleBytes() / heapPageBytes);
    tile.pages = uint32_t(next < endPage ? next : endPage) - page;
  }
  return tile;
}
