// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Provides the slabs of HeapSmall.h: frames of four slabs, which share large
// pages with medium blocks.

#pragma once

#include "heap/HeapMedium.h"

namespace mpg {

/// Which slabs of the frame that begins with page \p frame are free, a bit for
/// each.
using SlabBits = uint32_t;
constexpr SlabBits allSlabs = (1u << slabFrameBytes / slabBytes) - 1;
inline SlabBits &freeSlabs(uint32_t frame) {
  return heapMap.pages[frame].length;
}

/// Frames that all caches take slabs from. The entry of a frame's first page
/// links it with the others that have a free one.
class SlabFrames {
public:
  static constexpr uint32_t slabPages = slabBytes / heapPageBytes;
  static constexpr uint32_t framePages = slabFrameBytes / heapPageBytes;
  static constexpr unsigned slabs = slabFrameBytes / slabBytes;
  static_assert(slabs < 32, "a bit for each in SlabBits");

  /// First page of a free slab; 0: \p error.
  uint32_t acquire(int &error);
  void recycle(uint32_t page);
  /// Gives a frame without a slab in use back to arena 0.
  void releaseSpare();
  /// Gives the base pages of free slabs back where others of their frame are in
  /// use, as Arena::trimPages().
  bool trimPages();

  FutexLock lock; ///< held over a fork, see lockCaches()

private:
  uint32_t popListed() MPG_EXCLUDES(lock);
  SlabBits acquireAll(uint32_t frame) MPG_EXCLUDES(lock);
  bool grow(int &error) MPG_EXCLUDES(lock);
  uint32_t markFree(uint32_t page);
  uint32_t popSpare();
  uint32_t first MPG_GUARDED_BY(lock) = 0; ///< frame with a free slab
  uint32_t spare MPG_GUARDED_BY(lock) = 0; ///< one that is all free, or 0
};

extern SlabFrames slabFrames;

} // namespace mpg
