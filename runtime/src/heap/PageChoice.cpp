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
    bool isBlock =
        entry.state == UnitState::used || entry.state == UnitState::cached;
    bool hasEdges = __atomic_load_n(&entry.previous, __ATOMIC_RELAXED) != 0;
    if (isBlock && hasEdges)
      count += 2;
    page += isBlock && entry.length ? entry.length : 1;
  }
  return count;
}

void PageChoice::enlarge(unsigned sample, bool isFull) {
  heapSpace.enlarge(samples[sample], isFull);
  samples[sample] = Range{};
}

/// Makes samples large that are in use, and decides.
void PageChoice::inspect() {
  constexpr uint8_t enoughLooks = 8;
  constexpr size_t pages = hugeFrameBytes / heapPageBytes;
  unsigned dense = 0, sparse = 0, known = 0;
  for (unsigned i = 0; i < maxSamples; ++i) {
    if (samples[i].empty())
      continue;
    ++known;
    size_t present = countPresent(samples[i]);
    if (present >= pages / 2) {
      ++dense;
      // Pages that a parent or child shares would be copied.
      enlarge(i, readPresence(samples[i]) == Presence::alone);
    } else if (present < pages * 3 / 8 &&
               present > countEdgePages(samples[i])) {
      ++sparse;
    }
  }
  if (dense <= sparse && sparse >= enough)
    use = Use::sparse;
  else if (dense > sparse ||
           (known && use == Use::unknown && ++looks == enoughLooks))
    use = Use::dense;
  if (use != Use::dense)
    return;
  for (unsigned i = 0; i < maxSamples; ++i)
    if (!samples[i].empty())
      enlarge(i, /*isFull=*/false);
}

HeapPages PageChoice::choose() {
  if (use == Use::dense || !heapSpace.mayWait())
    return HeapPages::large;
  inspect();
  if (use == Use::sparse)
    return HeapPages::base;
  return use == Use::unknown && taken < enough ? HeapPages::late
                                               : HeapPages::large;
}

void PageChoice::note(Range memory, HeapPages pages) {
  if (pages == HeapPages::large)
    return;
  Range first{memory.start, memory.start + hugeFrameBytes};
  samples[next] = first;
  next = (next + 1) % maxSamples;
  taken += taken < enough;
  if (pages == HeapPages::late && first.end < memory.end)
    heapSpace.enlarge({first.end, memory.end}, /*isFull=*/false);
}

void PageChoice::forget(Range memory) {
  for (Range &sample : samples)
    if (sample.overlaps(memory))
      sample = Range{};
}
