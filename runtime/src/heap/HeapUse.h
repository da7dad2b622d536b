// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much of the heap is in use, how much of it is free, in blocks of which
// sizes: what mpg_heap_stats, mallinfo, malloc_stats and malloc_info tell. Read
// from the tables when somebody asks.

#ifndef MPG_RUNTIME_HEAPUSE_H
#define MPG_RUNTIME_HEAPUSE_H

#include "heap/HeapWalk.h"

namespace mpg {

/// Blocks, and their bytes.
struct BlockCount {
  uint64_t blocks = 0, bytes = 0;
  void add(uint64_t more, uint64_t moreBytes) {
    blocks += more;
    bytes += moreBytes;
  }
};

/// What one arena has, or all of them. Arena 0 has everybody's slabs.
struct ArenaUse {
  static constexpr unsigned doublings = 32;

  uint64_t mappedBytes = 0; ///< = used + free + what lies between blocks
  BlockCount used;          ///< what the program has; usable bytes
  BlockCount freeSmall;     ///< room for small blocks in slabs in use
  BlockCount freeRuns;      ///< runs of free pages, free slabs, cached blocks
  uint64_t trimmableBytes = 0;     ///< in whole free granules
  BlockCount smallOf[sizeClasses]; ///< freeSmall by size class
  BlockCount runsOf[doublings];    ///< freeRuns, of [2^n, 2^(n+1)) pages

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

#endif // MPG_RUNTIME_HEAPUSE_H
