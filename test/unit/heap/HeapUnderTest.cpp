// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapUnderTest.h. Stands in for Init.cpp and the linker's
// --wrap.

#include "HeapUnderTest.h"

#include "base/SelfMaps.h"
#include "heap/HeapSpace.h"
#include "pages/Pages.h"

#include <algorithm>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

using namespace mpg;

std::atomic<unsigned> libcAllocations{0}, libcFrees{0};

static Config onTransparentPages() {
  Config config;
  config.mode = Mode::thp;
  return config;
}

Config heapConfig = onTransparentPages();

bool mpg::decideHeap() {
  static Messages messages;
  messages.start(heapConfig.speaks, -1);
  probePages(heapConfig.forceCopyBack);
  return startHeap(heapConfig, messages);
}

bool startHeapUnderTest() { return heapIsOurs(); }

extern "C" {
/// Dirty, as the C library's may be; and a sanitizer's would end the process
/// instead of refusing what is too much.
void *__real_malloc(size_t bytes) {
  ++libcAllocations;
  void *block = bytes <= libcMostBytes ? malloc(bytes) : nullptr;
  if (block)
    memset(block, 0xff, bytes);
  return block;
}
void *__real_calloc(size_t count, size_t bytes) {
  ++libcAllocations;
  return calloc(count, bytes);
}
void *__real_realloc(void *block, size_t bytes) {
  return realloc(block, bytes);
}
void *__real_memalign(size_t alignment, size_t bytes) {
  ++libcAllocations;
  return memalign(alignment, bytes);
}
void __real_free(void *block) {
  ++libcFrees;
  free(block);
}
size_t __real_malloc_usable_size(void *block) {
  return malloc_usable_size(block);
}
/// Only whether there is any of it: the program's own does not count, for the
/// heap would take its addresses for blocks.
struct mallinfo2 __real_mallinfo2() {
  struct mallinfo2 info = {};
  info.arena = libcAllocations;
  return info;
}
}

uint64_t readableHeapBytes() {
  Range heap = heapSpace.range();
  uint64_t bytes = 0;
  LineReader lines("/proc/self/maps");
  while (const char *line = lines.next()) {
    Mapping mapping;
    if (!parseMapping(line, mapping) || !mapping.readable ||
        !mapping.range.overlaps(heap))
      continue;
    uintptr_t start =
        mapping.range.start > heap.start ? mapping.range.start : heap.start;
    uintptr_t end = mapping.range.end < heap.end ? mapping.range.end : heap.end;
    // Memory that others have mapped where the heap lost its addresses is not
    // the heap's.
    size_t hugeBytes = heapSpace.hugePageBytes();
    for (uintptr_t next; start < end; start = next) {
      next = std::min(roundDown(start, hugeBytes) + hugeBytes, end);
      bytes += heapSpace.isLost(start) ? 0 : next - start;
    }
  }
  return bytes;
}
