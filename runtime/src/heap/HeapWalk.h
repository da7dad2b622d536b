// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the whole heap: takes all of its locks, and visits its memory piece by
// piece through the tables beside it. Reports on the heap (its use, below;
// HeapChecks) are computed this way, so that the paths of malloc and free
// maintain no counters.
//
// Locks stop neither the owner of a slab, which allocates and frees without
// them, nor large blocks: their numbers are those of some moment during the
// walk.

#pragma once

#include "heap/HeapSmall.h"

namespace mpg {

/// Keeps the heap from growing, shrinking, and splitting medium blocks, and
/// keeps caches without a thread unchanged. Takes the locks in the order of
/// malloc and free. pre: the caller holds none of them, and calls no function
/// that takes one.
class HeapHeld {
public:
  HeapHeld() {
    lockCaches();
    lockArenas();
    heapSpace.lockAll();
  }
  ~HeapHeld();
  HeapHeld(const HeapHeld &) = delete;
  HeapHeld &operator=(const HeapHeld &) = delete;
};

/// Takes in what was freed and has not come home to its slab: of the calling
/// thread and of caches without one. Else it would count as used.
/// pre: the caller has no lock of the heap.
void settleCaches();

/// The same, and gives the arenas what the calling thread keeps of medium
/// blocks, its empty slabs, and a spare frame of slabs.
void freeUnusedPages();

/// Pages that begin with one entry.
struct HeapTile {
  uint32_t page;
  uint32_t pages;
  UnitState state; ///< inside: a large block, or a frame without memory
  uint16_t owner;  ///< the arena; not of large blocks
  bool isLarge;    ///< a large block
  /// The entry makes no sense; `pages` then leads to the next frame.
  bool isBroken;
  uint32_t end() const { return page + pages; }
  /// A block in use, of less than the threshold for large ones.
  bool isMedium() const { return isMediumBlock(state); }
};

/// The tile that begins at \p page, one of the heap's \p endPage pages with
/// tables. pre: HeapHeld.
HeapTile readTile(uint32_t page, uint32_t endPage);

inline uint32_t openPages() {
  return uint32_t(heapMap.openBytes.load(std::memory_order_acquire) /
                  heapPageBytes);
}

/// Calls \p visit with each HeapTile in the order of addresses. pre: HeapHeld.
template <typename Visit> void forEachTile(Visit visit) {
  uint32_t end = openPages();
  for (uint32_t page = 0; page < end;) {
    HeapTile tile = readTile(page, end);
    visit(tile);
    page = tile.end();
  }
}

/// Calls \p visit with each slab that has an owner, and with its address.
/// pre: HeapHeld.
template <typename Visit> void visitSlabs(Visit visit) {
  size_t count = openPages() / (slabBytes / heapPageBytes);
  for (size_t i = 0; i < count; ++i) {
    Slab &slab = slabAt(i * slabBytes);
    if (slab.owner.load(std::memory_order_acquire))
      visit(slab, heapMap.base + i * slabBytes);
  }
}

// How much of the heap is in use, how much of it is free, in blocks of which
// sizes: the data of mpg_heap_stats, mallinfo, malloc_stats and malloc_info.
// Computed from the tables at each call.

/// Blocks, and their bytes.
struct BlockCount {
  uint64_t blocks = 0, bytes = 0;
  void add(uint64_t more, uint64_t moreBytes) {
    blocks += more;
    bytes += moreBytes;
  }
};

/// Totals of one arena, or of all. Arena 0 includes all slabs and kept frames.
struct ArenaUse {
  static constexpr unsigned doublings = 32;

  uint64_t mappedBytes = 0; ///< = used + free + what lies between blocks
  BlockCount used;          ///< what the program has; usable bytes
  BlockCount freeSmall;     ///< room for small blocks in slabs in use
  BlockCount freeRuns;      ///< runs of free pages, free slabs, cached blocks
  uint64_t trimmableBytes = 0;          ///< in whole free frames
  BlockCount smallByClass[sizeClasses]; ///< freeSmall by size class
  BlockCount runsBySize[doublings];     ///< freeRuns, of [2^n, 2^(n+1)) pages

  uint64_t freeBytes() const { return freeSmall.bytes + freeRuns.bytes; }
};

struct HeapUse {
  ArenaUse arenas;  ///< of all arenas together
  BlockCount large; ///< usable bytes
  uint64_t largeMappedBytes = 0;
  MappedBytes mapped;
};

/// Reads all of it, and into \p each what \p count arenas from number \p first
/// on have. Takes every lock of the heap.
/// pre: as settleCaches(), and the heap is ours.
HeapUse readHeapUse(ArenaUse *each = nullptr, unsigned first = 0,
                    unsigned count = 0);

} // namespace mpg
