// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SharedArray.h. Nothing wraps: no sum or product of a loop is larger than
// the number of its iterations, and the end of an array's last part is not
// computed from them, because with a huge step that product would.

#include "numa/SharedArray.h"

using namespace mpg;

bool mpg::getPart(const SharedLoop &loop, uint32_t thread, uint64_t turn,
                  uint64_t &first, uint64_t &end) {
  if (loop.sched == 0) {
    uint64_t share = loop.iterations / loop.threads;
    uint64_t extra = loop.iterations % loop.threads;
    first = thread * share + (thread < extra ? thread : extra);
    end = first + share + (thread < extra ? 1 : 0);
    return turn == 0 && end > first;
  }
  uint64_t chunks =
      loop.iterations / loop.chunk + (loop.iterations % loop.chunk != 0);
  if (thread >= chunks || turn > (chunks - 1 - thread) / loop.threads)
    return false;
  first = (turn * loop.threads + thread) * loop.chunk;
  end = loop.iterations - first < loop.chunk ? loop.iterations
                                             : first + loop.chunk;
  return true;
}

uint32_t mpg::getOwner(const SharedLoop &loop, uint64_t iteration) {
  if (loop.sched == 1)
    return uint32_t(iteration / loop.chunk % loop.threads);
  uint64_t share = loop.iterations / loop.threads;
  uint64_t extra = loop.iterations % loop.threads;
  uint64_t inLargerBlocks = extra * (share + 1);
  if (iteration < inLargerBlocks)
    return uint32_t(iteration / (share + 1));
  return uint32_t(extra + (iteration - inLargerBlocks) / share);
}

/// First page whose middle is at or after \p address.
static uintptr_t pageAfter(uintptr_t address, size_t pageBytes) {
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
  Range pages{within(mapped, pageAfter(bytes.start, pageBytes)),
              within(mapped, pageAfter(bytes.end, pageBytes))};
  return {bytes.start, pages, pageBytes, step, loop};
}

/// First page whose middle is in or after \p iteration.
static uintptr_t getPage(const SharedArray &array, uint64_t iteration) {
  if (iteration >= array.loop.iterations)
    return array.pages.end;
  uintptr_t border = array.start + iteration * array.step;
  return within(array.pages, pageAfter(border, array.pageBytes));
}

Range mpg::getPages(const SharedArray &array, uint64_t first, uint64_t end) {
  return {getPage(array, first), getPage(array, end)};
}

bool mpg::isFine(const SharedArray &array) {
  return array.loop.sched == 1 &&
         array.loop.chunk < array.pageBytes / array.step;
}

/// The mapped part may begin in the middle of the first page.
uint64_t OwnedRuns::iterationHere() const {
  uintptr_t middle = roundDown(at, array.pageBytes) + array.pageBytes / 2;
  return (middle - array.start) / array.step;
}

int OwnedRuns::groupHere() const {
  uint32_t thread = getOwner(array.loop, iterationHere());
  return groups ? groups[thread] : int(thread);
}

uintptr_t OwnedRuns::endOfPart() const {
  uint64_t first = 0, end = 0, iteration = iterationHere();
  if (array.loop.sched == 1) {
    first = iteration - iteration % array.loop.chunk;
    if (array.loop.iterations - first <= array.loop.chunk)
      return array.pages.end;
    end = first + array.loop.chunk;
  } else {
    getPart(array.loop, getOwner(array.loop, iteration), 0, first, end);
  }
  return getPage(array, end);
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
