// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Provides the slabs of HeapSmall.h: large pages divided into 64 of them.

#ifndef MPG_RUNTIME_HEAPSLABS_H
#define MPG_RUNTIME_HEAPSLABS_H

#include "heap/HeapMedium.h"

namespace mpg {

/// Which slabs of the frame of 2 MiB that begins with page \p frame are
/// free, a bit for each: half of them in the entry of its first page, half in
/// that of the next one, which no run begins or ends with.
using SlabBits = uint64_t;
constexpr SlabBits allSlabs = UINT64_MAX;
inline SlabBits freeSlabs(uint32_t frame) {
  return SlabBits(heapMap.pages[frame + 1].length) << 32 |
         heapMap.pages[frame].length;
}
inline void setFreeSlabs(uint32_t frame, SlabBits bits) {
  heapMap.pages[frame].length = uint32_t(bits);
  heapMap.pages[frame + 1].length = uint32_t(bits >> 32);
}

/// Frames of 2 MiB that all caches take slabs from. The entry of a frame's
/// first page links it with the others that have a free one.
class SlabFrames {
public:
  static constexpr uint32_t slabPages = slabBytes / heapPageBytes;
  static constexpr uint32_t framePages = slabFrameBytes / heapPageBytes;
  static constexpr unsigned slabs = slabFrameBytes / slabBytes;
  static_assert(slabs == 64, "a bit for each in SlabBits");

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
  void link(uint32_t frame) MPG_REQUIRES(lock);
  void unlink(uint32_t frame) MPG_REQUIRES(lock);
  uint32_t first MPG_GUARDED_BY(lock) = 0; ///< frame with a free slab
  uint32_t spare MPG_GUARDED_BY(lock) = 0; ///< one that is all free, or 0
};

extern SlabFrames slabFrames;

} // namespace mpg

#endif // MPG_RUNTIME_HEAPSLABS_H
