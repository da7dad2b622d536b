// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Large blocks: separate frames, mapped when the block is allocated and
// returned to the system when it is freed. The space's lock is the only one.

#pragma once

#include "base/Check.h"
#include "heap/HeapMedium.h"

namespace mpg {

/// MALLOC_MMAP_THRESHOLD_, _MMAP_MAX_; mallopt() changes them.
struct LargeSettings {
  std::atomic<uint64_t> threshold{128 << 20};
  std::atomic<uint64_t> maxBlocks{2097152};
  bool always = false; ///< FORCE_MMAP_THRESHOLD
};
extern LargeSettings largeSettings;

/// A block of at least \p bytes, zero unless \p isDirty. Its start is a
/// multiple of \p alignment: any power of two, up to the frame with
/// HeapPages::base. 0: \p error is ENOMEM or ENOSPC.
uintptr_t allocateLarge(size_t bytes, size_t alignment, HeapPages pages,
                        bool &isDirty, int &error);

/// The first page of the frame that \p page is in.
inline uint32_t getFramePage(uint32_t page) {
  return page & ~uint32_t(heapSpace.hugePageBytes() / heapPageBytes - 1);
}

/// Pages of the large block whose frames begin with \p page; 0: there is none.
inline uint32_t largePages(uint32_t page) {
  const UnitEntry &frame = heapSpace.getFrame(page);
  return page == getFramePage(page) && frame.state == UnitState::mapped
             ? __atomic_load_n(&frame.next, __ATOMIC_ACQUIRE)
             : 0;
}

/// The block of the \p pages from \p page on.
inline Range largeBlock(uint32_t page, uint32_t pages) {
  uintptr_t start = addressOfPage(page);
  return {start + heapSpace.getFrame(page).previous * colorStepBytes,
          start + uintptr_t(pages) * heapPageBytes};
}

void freeLarge(uint32_t page);

/// Makes a block shorter or longer where it is; false: it could not be.
bool resizeLarge(uint32_t page, size_t bytes);

/// Whether there are fewer than there may be.
bool mayHaveLarge();

struct LargeCounts {
  uint64_t blocks, bytes, maxBlocks, maxBytes;
};
LargeCounts largeCounts();

} // namespace mpg
