// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PageChoice.h.

#include "heap/PageChoice.h"

#include "heap/HeapMedium.h"

using namespace mpg;

/// Pages of a frame that the heap itself has written to, for edges.
static size_t countEdgePages(Range frame) {
  size_t count = 0;
  for (uint32_t page = getPage(frame.start); page < getPage(frame.end);) {
    const UnitEntry &entry = heapMap.pages[page];
    bool isPacked = entry.state == UnitState::packed;
    bool isBlock =
        isMediumBlock(entry.state) || entry.state == UnitState::cached;
    bool hasEdges = __atomic_load_n(&entry.previous, __ATOMIC_RELAXED) != 0;
    if (isBlock && hasEdges)
      count += isPacked ? 1 : 2;
    page += isBlock && entry.length ? entry.length : 1;
  }
  return count;
}

void PageChoice::enlarge(unsigned sample, bool isFull) {
  heapSpace.enlarge(samples[sample], isFull);
  samples[sample] = Range{};
}

/// Makes samples large that are in use. Decides, unless they are as many as
/// those of which little is written. Returns the number of the latter.
unsigned PageChoice::inspect() {
  unsigned dense = 0, sparse = 0;
  size_t maxPresent = 0;
  for (unsigned i = 0; i < maxSamples; ++i) {
    if (samples[i].empty())
      continue;
    size_t present = countPresent(samples[i]);
    if (present >= samplePages / 2) {
      ++dense;
      // Pages that a parent or child shares would be copied.
      enlarge(i, readPresence(samples[i]) == Presence::alone);
    } else if (present < samplePages * 3 / 8 &&
               present > countEdgePages(samples[i]) + isLong) {
      ++sparse;
      maxPresent = present > maxPresent ? present : maxPresent;
    }
  }
  if (sparse)
    sparsePages = maxPresent;
  if (dense > sparse)
    use = Use::dense;
  else if (sparse >= enough)
    use = Use::sparse;
  return sparse;
}

/// All later memory is large.
void PageChoice::enlargeAll() {
  use = Use::dense;
  for (unsigned i = 0; i < maxSamples; ++i)
    if (!samples[i].empty())
      enlarge(i, /*isFull=*/false);
}

void PageChoice::inspectBetween() {
  if (!heapSpace.mayWait())
    return;
  inspect();
  if (use == Use::dense)
    enlargeAll();
}

HeapPages PageChoice::choose() {
  constexpr uint8_t enoughLooks = 8;
  if (use == Use::dense || !heapSpace.mayWait())
    return HeapPages::large;
  unsigned sparse = inspect();
  if (use == Use::unknown && taken && ++looks == enoughLooks)
    use = Use::dense;
  if (use == Use::dense)
    enlargeAll();
  if (use == Use::sparse)
    return HeapPages::base;
  // Another sample only where the one before was written to sparsely: of three
  // arrays that are filled later, one begins on base pages.
  bool isSample = use == Use::unknown && taken < enough && taken == sparse;
  return isSample ? HeapPages::late : HeapPages::large;
}

/// Has khugepaged make \p memory large. A page that is there keeps its first
/// frame from becoming large at the first touch; it is the kernel's page of
/// zeros, at the end, where the program is the last to write.
static void leaveToKernel(Range memory) {
  uintptr_t last = memory.start + hugeFrameBytes - heapPageBytes;
  *reinterpret_cast<volatile char *>(last);
  heapSpace.enlarge(memory, /*isFull=*/false);
}

void PageChoice::note(Range memory, HeapPages pages) {
  if (pages == HeapPages::large)
    return;
  Range first{memory.start, memory.start + hugeFrameBytes};
  samples[next] = first;
  next = (next + 1) % maxSamples;
  taken += taken <= enough;
  if (pages != HeapPages::late)
    return;
  if (isLong)
    leaveToKernel(memory);
  else if (first.end < memory.end)
    heapSpace.enlarge({first.end, memory.end}, /*isFull=*/false);
}

void PageChoice::forget(Range memory) {
  for (Range &sample : samples)
    if (sample.overlaps(memory))
      sample = Range{};
}
