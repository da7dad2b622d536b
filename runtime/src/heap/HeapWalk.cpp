// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapWalk.h.

#include "heap/HeapWalk.h"
#include "base/CLibrary.h"
#include "heap/Heap.h"
#include "heap/HeapLarge.h"
#include "heap/HeapSlabs.h"
#include "mpg/mpg.h"
#include <errno.h>
#include <string.h>

using namespace mpg;

HeapHeld::~HeapHeld() {
  heapSpace.unlockAll(/*inChild=*/false);
  unlockArenas(/*inChild=*/false);
  unlockCaches(/*inChild=*/false);
  // Caches without a thread were kept: what was sent to them meanwhile has
  // no other thread to take it in.
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

void mpg::freeUnusedPages() {
  settleCaches();
  if (ThreadCache *cache = ownCache()) {
    cache->medium.clear();
    cache->releaseEmpty();
  }
  slabFrames.releaseSpare();
}

/// Pages of a run whose first entry is \p entry; 0: it cannot be one.
static uint32_t getLength(const UnitEntry &entry, uint32_t page, uint32_t end) {
  constexpr uint32_t slabPages = SlabFrames::framePages;
  auto framePages = uint32_t(heapSpace.hugePageBytes() / heapPageBytes);
  // Owners of pages may be free()ing them at this moment: state, then length.
  auto state = UnitState(__atomic_load_n(
      reinterpret_cast<const uint8_t *>(&entry.state), __ATOMIC_ACQUIRE));
  uint32_t length = __atomic_load_n(&entry.length, __ATOMIC_RELAXED);
  bool isInside = length <= end - page;
  switch (state) {
  case UnitState::inside: // of no block, because no tile begins within another
    return page % framePages == 0 ? framePages : 0;
  case UnitState::slabs: // the length is a set of slabs
    return page % slabPages == 0 && slabPages <= end - page ? slabPages : 0;
  case UnitState::free: {
    if (!isInside || length == 0)
      return 0;
    const UnitEntry &last = heapMap.pages[page + length - 1];
    return last.state == UnitState::free && last.length == length ? length : 0;
  }
  case UnitState::used:
  case UnitState::cached:
  case UnitState::packed:
  case UnitState::packedFree:
    return isInside ? length : 0;
  case UnitState::mapped: // entries of the other table
  case UnitState::lost:
    break;
  }
  return 0;
}

HeapTile mpg::readTile(uint32_t page, uint32_t endPage) {
  const UnitEntry &entry = heapMap.pages[page];
  uint32_t large = largePages(page);
  uint32_t length = !large                    ? getLength(entry, page, endPage)
                    : large <= endPage - page ? large
                                              : 0;
  HeapTile tile{page,        length,     entry.state,
                entry.owner, large != 0, length == 0};
  if (tile.state != UnitState::inside && tile.owner >= arenaCount())
    tile.isBroken = true;
  if (tile.isBroken) {
    uint64_t next =
        roundUp(uint64_t(page) + 1, heapSpace.hugePageBytes() / heapPageBytes);
    tile.pages = uint32_t(next < endPage ? next : endPage) - page;
  }
  return tile;
}

// Counting

static void addFreePages(ArenaUse &use, uint32_t pages) {
  uint64_t bytes = uint64_t(pages) * heapPageBytes;
  use.freeRuns.add(1, bytes);
  use.runsBySize[31 - __builtin_clz(pages)].add(1, bytes);
}

namespace {

/// Small blocks of all slabs: those of a class are alike.
struct SmallUse {
  uint64_t used[sizeClasses] = {}, free[sizeClasses] = {};

  void add(const Slab &slab);
  void add(const ThreadCache &cache);
  void addTo(ArenaUse &use) const;
};

} // namespace

void SmallUse::add(const Slab &slab) {
  uint64_t inUse = __atomic_load_n(&slab.used, __ATOMIC_RELAXED);
  used[slab.sizeClass] += inUse;
  free[slab.sizeClass] += slabBytes / slab.objectBytes - inUse;
}

/// Objects in a cache's bins are in use for their slab but free for the
/// program.
void SmallUse::add(const ThreadCache &cache) {
  for (unsigned i = 0; i < sizeClasses; ++i) {
    uint64_t count = 0;
    cache.forEachList(
        i, [&](const FreeObject *, uint64_t some) { count += some; });
    // More than there are: what its owner did since the slabs were counted.
    if (count > used[i])
      count = used[i];
    used[i] -= count;
    free[i] += count;
  }
}

void SmallUse::addTo(ArenaUse &use) const {
  for (unsigned i = 0; i < sizeClasses; ++i) {
    uint64_t bytes = bytesOfClass(i);
    use.used.add(used[i], used[i] * bytes);
    use.freeSmall.add(free[i], free[i] * bytes);
    use.smallByClass[i].add(free[i], free[i] * bytes);
  }
}

/// A frame of slabs: the free ones. The others are counted by slab.
static void addSlabFrame(ArenaUse &use, const HeapTile &tile) {
  constexpr uint32_t slabPages = slabBytes / heapPageBytes;
  for (SlabBits left = freeSlabs(tile.page); left; left &= left - 1)
    addFreePages(use, slabPages);
}

static void addTile(ArenaUse &use, const HeapTile &tile) {
  use.mappedBytes += uint64_t(tile.pages) * heapPageBytes;
  if (tile.isMedium())
    use.used.add(1, usableBlock(tile.page).bytes());
  else if (tile.state == UnitState::slabs)
    addSlabFrame(use, tile);
  else
    addFreePages(use, tile.pages);
  if (tile.state == UnitState::free)
    use.trimmableBytes +=
        innerHugeFrames({addressOfPage(tile.page), addressOfPage(tile.end())},
                        heapSpace.hugePageBytes())
            .bytes();
}

/// Frames of large blocks that were freed and kept.
static void addKept(ArenaUse &use) {
  uint64_t bytes = heapSpace.keptBytes();
  if (!bytes)
    return;
  addFreePages(use, uint32_t(bytes / heapPageBytes));
  use.mappedBytes += bytes;
  use.trimmableBytes += bytes;
}

static void addLarge(HeapUse &use, const HeapTile &tile) {
  use.large.add(1, largeBlock(tile.page, tile.pages).bytes());
  use.largeMappedBytes += uint64_t(tile.pages) * heapPageBytes;
}

HeapUse mpg::readHeapUse(ArenaUse *each, unsigned first, unsigned count) {
  settleCaches();
  HeapUse use;
  HeapHeld held;
  forEachTile([&](const HeapTile &tile) {
    if (tile.isBroken)
      return;
    if (tile.isLarge)
      return addLarge(use, tile);
    if (tile.state == UnitState::inside)
      return;
    addTile(use.arenas, tile);
    if (tile.owner - first < count)
      addTile(each[tile.owner - first], tile);
  });
  SmallUse small;
  visitSlabs([&](Slab &slab, uintptr_t) { small.add(slab); });
  for (ThreadCache *cache = firstCache(); cache; cache = cache->nextOfAll)
    small.add(*cache);
  small.addTo(use.arenas);
  addKept(use.arenas);
  if (first == 0 && count > 0) {
    small.addTo(each[0]);
    addKept(each[0]);
  }
  use.mapped = heapSpace.mapped();
  return use;
}

// mpg_heap_stats

MPG_EXPORT int mpg_heap_stats(struct mpg_heap_stats *out) {
  if (!out || out->structBytes < sizeof out->structBytes)
    return -EINVAL;
  if (!heapIsOurs())
    return -ENODEV;
  HeapUse use = readHeapUse();
  struct mpg_heap_stats stats = {};
  // A program that was built with a shorter or a longer one.
  stats.structBytes =
      out->structBytes < sizeof stats ? out->structBytes : sizeof stats;
  stats.arenas = arenaCount();
  stats.threadCaches = cacheCount() - 1; // one is for threads past their end
  stats.mappedBytes = use.mapped.all();
  stats.hugeBytes = use.mapped.huge;
  stats.thpBytes = use.mapped.thp;
  stats.normalBytes = use.mapped.normal;
  stats.peakMappedBytes = heapSpace.peakBytes();
  stats.peakHugeBytes = heapSpace.peakHugeBytes();
  stats.usedBytes = use.arenas.used.bytes + use.large.bytes;
  stats.freeBytes = use.arenas.freeBytes();
  stats.metadataBytes = heapSpace.metadataBytes();
  stats.largeBlocks = use.large.blocks;
  stats.reservedBytes = heapSpace.range().bytes();
  memcpy(out, &stats, stats.structBytes);
  return 0;
}
