// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An array that a loop of several threads works on, and which of its pages
// belong to which thread: arithmetic only. A page belongs to the thread that
// works on the byte in its middle, and so on most of it. The obvious byte, the
// first, goes wrong with malloc's arrays: they begin a little after the start
// of a page, and every page at a border would go to the wrong one of the two.
//
// Every page has at most one owner, so no two threads race for it, and the
// outcome is the same in every run. A page at an end of the array that holds
// less than half a page of it has none: it belongs to the array beside it.

#pragma once

#include "base/Range.h"
#include <stdint.h>

namespace mpg {

/// How OpenMP divides the iterations of a loop among a team of threads:
/// schedule(static) and schedule(static, chunk), the two whose outcome is known
/// before the loop runs. pre of the functions below: threads is not 0, and
/// chunk is not 0 if sched is 1.
struct SharedLoop {
  uint64_t iterations;
  uint32_t sched; ///< 0 block, 1 chunk
  uint64_t chunk; ///< iterations, for sched 1
  uint32_t threads;
};

/// The \p turn-th part of thread \p thread, as first iteration and first after
/// it; false when the thread has no further part. Block: the first
/// iterations % threads threads have one iteration more, as libomp and libgomp
/// do it. pre: \p thread is less than loop.threads.
bool getPart(const SharedLoop &loop, uint32_t thread, uint64_t turn,
             uint64_t &first, uint64_t &end);

/// The thread that works on \p iteration. pre: it is one of the loop's.
uint32_t getOwner(const SharedLoop &loop, uint64_t iteration);

struct SharedArray {
  uintptr_t start;
  Range pages;      ///< those whose middle is in the array; may be empty
  size_t pageBytes; ///< of the largest of them, a power of two
  uint64_t step;    ///< bytes of one iteration
  SharedLoop loop;

  /// An array in \p bytes. \p mapped is the writable memory around it, and no
  /// page extends beyond that. Iterations are counted here. pre: step is not 0.
  static SharedArray of(Range bytes, Range mapped, size_t pageBytes,
                        uint64_t step, SharedLoop loop);
};

/// The pages whose middle is in iterations [first, end). May be empty.
Range getPages(const SharedArray &array, uint64_t first, uint64_t end);

/// Whether several chunks can share a page: then there are fewer pages to visit
/// than parts.
bool isFine(const SharedArray &array);

/// All pages of an array in the order of addresses, in runs that are as long
/// as they can be.
class OwnedRuns {
public:
  /// \p groups gives a number to each thread: neighbours of equal numbers make
  /// one run. Null: each thread is by itself, and has its own number.
  explicit OwnedRuns(const SharedArray &array, const int16_t *groups = nullptr)
      : array(array), groups(groups), at(array.pages.start) {}
  /// False at the end.
  bool next(Range &run, int &group);

private:
  const SharedArray &array;
  const int16_t *groups;
  uintptr_t at;

  uint64_t iterationHere() const;
  int groupHere() const;
  uintptr_t endOfPart() const;
};

} // namespace mpg
