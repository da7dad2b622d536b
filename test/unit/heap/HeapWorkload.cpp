// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapWorkload.h. Of long blocks only a sample of the bytes is written and
// compared: the ends, where neighbours would show, and one byte in each page.

#include "HeapWorkload.h"

#include "HeapUnderTest.h"

#include <cerrno>

static constexpr size_t endBytes = 64, stepBytes = 4093;

static unsigned char valueAt(unsigned char seed, size_t offset) {
  return static_cast<unsigned char>(seed * 31 + offset * 7 + (offset >> 11));
}

/// Calls \p visit with the offsets of a sample of [from, bytes).
template <typename Visit>
static void sample(size_t from, size_t bytes, Visit visit) {
  for (size_t at = from; at < bytes;) {
    visit(at);
    bool isEnd = at < from + endBytes || at + endBytes >= bytes;
    size_t next = isEnd ? at + 1 : at + stepBytes;
    at = !isEnd && next > bytes - endBytes ? bytes - endBytes : next;
  }
}

void HeapWorkload::fail(const char *what, const void *where, size_t bytes) {
  if (!firstProblem.empty())
    return;
  char text[128];
  std::snprintf(text, sizeof text, "%s: %p, %zu bytes", what, where, bytes);
  firstProblem = text;
}

void HeapWorkload::fill(Block &block, size_t from) {
  sample(from, block.bytes,
         [&](size_t at) { block.start[at] = valueAt(block.seed, at); });
}

void HeapWorkload::verify(const Block &block, size_t bytes, const char *when) {
  sample(0, bytes, [&](size_t at) {
    if (block.start[at] != valueAt(block.seed, at))
      fail(when, block.start + at, block.bytes);
  });
}

void HeapWorkload::expectZero(const unsigned char *start, size_t bytes) {
  for (size_t at = 0; at < bytes; at += bytes > 65536 ? 61 : 1)
    if (start[at])
      return fail("calloc gave dirty memory", start + at, bytes);
}

/// This workload owns \p block from here on; no other block may overlap it.
void HeapWorkload::enter(const Block &block) {
  auto start = uintptr_t(block.start);
  uintptr_t end = start + __wrap_malloc_usable_size(block.start);
  if (start % 16 != 0)
    fail("not aligned to 16", block.start, block.bytes);
  if (end < start + block.bytes)
    fail("shorter than asked for", block.start, block.bytes);
  auto behind = places.lower_bound(start);
  if ((behind != places.end() && behind->first < end) ||
      (behind != places.begin() && std::prev(behind)->second > start))
    fail("overlaps another block", block.start, block.bytes);
  places[start] = end;
  blocks.push_back(block);
}

void HeapWorkload::leave(const Block &block) {
  places.erase(uintptr_t(block.start));
}

size_t HeapWorkload::randomBytes() {
  uint32_t kind = below(100);
  if (kind < 70)
    return below(1u << (4 + below(11)));
  if (kind < 95 || sizes.maxLarge == 0)
    return below(uint32_t(sizes.maxMedium));
  return below(uint32_t(sizes.maxLarge));
}

unsigned char *HeapWorkload::allocate(size_t bytes) {
  uint32_t kind = below(10);
  size_t alignment = 16;
  void *start;
  errno = 0;
  if (kind < 7) {
    start = __wrap_malloc(bytes);
  } else if (kind < 9) {
    start = __wrap_calloc(1, bytes);
    if (start)
      expectZero(static_cast<unsigned char *>(start), bytes);
  } else {
    alignment = size_t(16) << below(below(8) ? 9 : 20);
    start = __wrap_memalign(alignment, bytes);
  }
  if (uintptr_t(start) % alignment != 0)
    fail("not aligned as asked", start, bytes);
  if (start)
    return static_cast<unsigned char *>(start);
  ++failed;
  if (!mayFail || errno != ENOMEM)
    fail("no memory", reinterpret_cast<void *>(uintptr_t(errno)), bytes);
  return nullptr;
}

HeapWorkload::Block HeapWorkload::make() {
  Block block;
  block.bytes = randomBytes();
  block.seed = static_cast<unsigned char>(random());
  block.start = allocate(block.bytes);
  if (block.start)
    fill(block, 0);
  return block;
}

void HeapWorkload::adopt(Block block) {
  if (!block.start)
    return;
  verify(block, block.bytes, "changed on its way to another thread");
  enter(block);
}

void HeapWorkload::change() {
  size_t index = below(uint32_t(blocks.size()));
  Block block = blocks[index];
  size_t bytes = 1 + (below(2) ? randomBytes() : block.bytes * below(3) / 2);
  errno = 0;
  auto *start =
      static_cast<unsigned char *>(__wrap_realloc(block.start, bytes));
  if (!start) {
    ++failed;
    if (!mayFail || errno != ENOMEM)
      fail("realloc failed", block.start, bytes);
    return verify(block, block.bytes, "changed by a realloc that failed");
  }
  blocks[index] = blocks.back();
  blocks.pop_back();
  leave(block);
  block.start = start;
  size_t kept = bytes < block.bytes ? bytes : block.bytes;
  // The sample depends on the length: compare what both have.
  size_t oldBytes = block.bytes;
  block.bytes = bytes;
  sample(0, oldBytes, [&](size_t at) {
    if (at < kept && start[at] != valueAt(block.seed, at))
      fail("changed by realloc", start + at, oldBytes);
  });
  fill(block, 0);
  enter(block);
}

void HeapWorkload::release(size_t index) {
  Block block = blocks[index];
  blocks[index] = blocks.back();
  blocks.pop_back();
  verify(block, block.bytes, "changed by somebody else");
  leave(block);
  errno = 77;
  __wrap_free(block.start);
  if (errno != 77)
    fail("free changed errno", block.start, block.bytes);
}

void HeapWorkload::run(unsigned count) {
  for (unsigned i = 0; i < count && firstProblem.empty(); ++i) {
    bool grows = i / 500 % 2 == 0;
    uint32_t kind = below(100);
    if (blocks.empty() || kind < (grows ? 60 : 30)) {
      Block block = make();
      if (block.start)
        enter(block);
    } else if (kind < 75) {
      release(below(uint32_t(blocks.size())));
    } else {
      change();
    }
  }
}

void HeapWorkload::finish() {
  while (!blocks.empty())
    release(blocks.size() - 1);
}
