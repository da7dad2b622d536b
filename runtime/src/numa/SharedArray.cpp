// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SharedArray.h. The end of the last part is never computed from its
// iterations: with a huge step that product would wrap.

#include "numa/SharedArray.h"

using namespace mpg;

/// First page whose middle is at or behind \p address.
static uintptr_t pageBehind(uintptr_t address, size_t pageBytes) {
  size_t half = pageBytes / 2;
  return address > half ? roundUp(address - half, pageBytes) : 0;
}

static uintptr_t within(Range range, uintptr_t address) {
  if (address < range.start)
    return range.start;
  return address < range.end ? address : range.end;
}

SharedArray SharedArray::of(Range bytes, Range mapped, size_t pageBytes,
                            uint64_t step, SharedLoop loop) {
  loop.iterations = bytes.bytes() / step + (bytes.bytes() % step != 0);
  Range pages{within(mapped, pageBehind(bytes.start, pageBytes)),
              within(mapped, pageBehind(bytes.end, pageBytes))};
  return {bytes.start, pages, pageBytes, step, loop};
}

/// First page whose middle is in or behind \p iteration.
static uintptr_t pageOf(const SharedArray &array, uint64_t iteration) {
  if (iteration >= array.loop.iterations)
    return array.pages.end;
  uintptr_t border = array.start + iteration * array.step;
  return within(array.pages, pageBehind(border, array.pageBytes));
}

Range mpg::pagesOf(const SharedArray &array, uint64_t first, uint64_t behind) {
  return {pageOf(array, first), pageOf(array, behind)};
}

bool mpg::isFine(const SharedArray &array) {
  return array.loop.sched == 1 &&
         array.loop.chunk < array.pageBytes / array.step;
}

/// What is mapped may begin in the middle of the first page.
uint64_t OwnedRuns::iterationHere() const {
  uintptr_t middle = roundDown(at, array.pageBytes) + array.pageBytes / 2;
  return (middle - array.start) / array.step;
}

int OwnedRuns::groupHere() const {
  uint32_t thread = ownerOf(array.loop, iterationHere());
  return groups ? groups[thread] : int(thread);
}

uintptr_t OwnedRuns::endOfPart() const {
  uint64_t first = 0, behind = 0, iteration = iterationHere();
  if (array.loop.sched == 1) {
    first = iteration - iteration % array.loop.chunk;
    if (array.loop.iterations - first <= array.loop.chunk)
      return array.pages.end;
    behind = first + array.loop.chunk;
  } else {
    partOf(array.loop, ownerOf(array.loop, iteration), 0, first, behind);
  }
  return pageOf(array, behind);
}

bool OwnedRuns::next(Range &run, int &group) {
  if (at >= array.pages.end)
    return false;
  run.start = at;
  group = groupHere();
  do
    at = endOfPart();
  while (at < array.pages.end && groupHere() == group);
  run.end = at;
  return true;
}
