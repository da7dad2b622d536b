// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapLarge.h. The entry of the first page of a block's frames has its
// length in pages and its shift in steps of 256 bytes: the block may start up
// to four pages after that one.

#include "heap/HeapLarge.h"

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

uintptr_t mpg::allocateLarge(size_t bytes, size_t alignment, int &error) {
  error = ENOSPC;
  if (bytes >= heapSpace.range().bytes())
    return 0;
  size_t frames;
  unsigned colors = countColors(bytes, alignment, frames);
  Range memory;
  error = heapSpace.acquire(frames * heapSpace.hugePageBytes(), alignment, {},
                            memory);
  if (error)
    return 0;
  unsigned shift =
      colors > 1 ? color.fetch_add(1, std::memory_order_relaxed) % colors : 0;
  uint32_t page = getPage(memory.start);
  heapMap.pages[page] = {uint32_t(memory.bytes() / heapPageBytes),
                         0,
                         0,
                         0,
                         uint8_t(shift),
                         UnitState::large};
  count(memory.bytes());
  return largeBlock(page).start;
}

/// All of a block's frames.
static Range getFrames(uint32_t page) {
  return {addressOfPage(page), largeBlock(page).end};
}

void mpg::freeLarge(uint32_t page) {
  Range memory = getFrames(page);
  heapMap.pages[page].state = UnitState::inside;
  blocks.fetch_sub(1);
  blockBytes.fetch_sub(memory.bytes());
  heapSpace.recycle(memory);
}

bool mpg::resizeLarge(uint32_t page, size_t bytes) {
  Range now = getFrames(page);
  uintptr_t end =
      roundUp(largeBlock(page).start + bytes, heapSpace.hugePageBytes());
  if (end > now.end && heapSpace.acquireAt(now.end, end - now.end, {}) != 0)
    return false;
  raise(maxBytes, blockBytes.fetch_add(end - now.end) + end - now.end);
  heapMap.pages[page].length = uint32_t((end - now.start) / heapPageBytes);
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
