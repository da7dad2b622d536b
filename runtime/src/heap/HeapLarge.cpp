// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapLarge.h. The entry of a block's first frame has its length in pages
// and its shift in steps of 256 bytes: the block may start up to four pages
// after the frame.

#include "heap/HeapLarge.h"
#include "heap/HeapReport.h"

#include <errno.h>

using namespace mpg;

LargeSettings mpg::largeSettings;

static std::atomic<uint64_t> blocks{0}, blockBytes{0}, maxBlocks{0},
    maxBytes{0};
static std::atomic<unsigned> color{0};

static void raise(std::atomic<uint64_t> &max, uint64_t value) {
  uint64_t known = max.load(std::memory_order_relaxed);
  while (known < value && !max.compare_exchange_weak(known, value)) {
  }
}

static void count(uint64_t bytes) {
  raise(maxBlocks, blocks.fetch_add(1) + 1);
  raise(maxBytes, blockBytes.fetch_add(bytes) + bytes);
}

/// All within one way of the cache; where the last frame has no room for
/// some, one more is taken.
static unsigned countColors(size_t bytes, size_t alignment, size_t &frames) {
  constexpr unsigned max = minColoredBytes / colorStepBytes;
  size_t hugeBytes = heapSpace.hugePageBytes();
  frames = (bytes + hugeBytes - 1) / hugeBytes;
  if (!isColored(bytes, alignment))
    return 1;
  size_t colors = (frames * hugeBytes - bytes) / colorStepBytes + 1;
  if (colors >= enoughColors)
    return colors < max ? unsigned(colors) : max;
  ++frames;
  return max;
}

static void setPages(uint32_t page, uint32_t pages) {
  __atomic_store_n(&heapSpace.getFrame(page).next, pages, __ATOMIC_RELEASE);
}

uintptr_t mpg::allocateLarge(size_t bytes, size_t alignment, HeapPages pages,
                             bool &isDirty, int &error) {
  error = ENOSPC;
  if (bytes >= heapSpace.range().bytes())
    return 0;
  size_t frames;
  unsigned colors = countColors(bytes, alignment, frames);
  Range memory;
  size_t frameBytes = frames * heapSpace.hugePageBytes();
  isDirty =
      pages == HeapPages::base && heapSpace.acquireKept(frameBytes, memory);
  error = isDirty
              ? 0
              : heapSpace.acquire(frameBytes, alignment, {-1, pages}, memory);
  if (error)
    return 0;
  heapSpace.pageIn(memory);
  uint32_t page = getPage(memory.start);
  // Where frames may have been in use, the same page of them is written again.
  unsigned shift = (pages == HeapPages::base
                        ? page * 2654435761u >> 16
                        : color.fetch_add(1, std::memory_order_relaxed)) %
                   colors;
  heapSpace.getFrame(page).previous = shift;
  setPages(page, uint32_t(memory.bytes() / heapPageBytes));
  count(memory.bytes());
  return memory.start + shift * colorStepBytes;
}

/// All of a block's frames.
static Range getFrames(uint32_t page) {
  uint32_t pages = largePages(page);
  MPG_CHECK(pages);
  return {addressOfPage(page), largeBlock(page, pages).end};
}

void mpg::freeLarge(uint32_t page) {
  Range memory = getFrames(page);
  setPages(page, 0);
  blocks.fetch_sub(1);
  blockBytes.fetch_sub(memory.bytes());
  // A part of the memory that may stay free, of all of which little is present.
  uint64_t trimBytes = arenaSettings.trimBytes.load(std::memory_order_relaxed);
  if (!addressesAreFree() || !heapSpace.keep(memory, trimBytes / 4))
    heapSpace.recycle(memory);
}

bool mpg::resizeLarge(uint32_t page, size_t bytes) {
  Range now = getFrames(page);
  uintptr_t start = largeBlock(page, largePages(page)).start,
            end = roundUp(start + bytes, heapSpace.hugePageBytes());
  if (end > now.end && heapSpace.acquireAt(now.end, end - now.end, {}) != 0)
    return false;
  heapSpace.pageIn({now.end, end});
  raise(maxBytes, blockBytes.fetch_add(end - now.end) + end - now.end);
  setPages(page, uint32_t((end - now.start) / heapPageBytes));
  if (end < now.end)
    heapSpace.recycle({end, now.end});
  return true;
}

bool mpg::mayHaveLarge() {
  return blocks.load(std::memory_order_relaxed) <
         largeSettings.maxBlocks.load(std::memory_order_relaxed);
}

LargeCounts mpg::largeCounts() {
  return {blocks.load(), blockBytes.load(), maxBlocks.load(), maxBytes.load()};
}
