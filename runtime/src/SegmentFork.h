// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .data and .bss on hugetlb pages and fork().

#ifndef MPG_RUNTIME_SEGMENTFORK_H
#define MPG_RUNTIME_SEGMENTFORK_H

#include "Env.h"
#include "ForkList.h"
#include "Messages.h"
#include "Mover.h"

namespace mpg {

/// From here on a fork() is no danger to programs with .data or .bss on hugetlb
/// pages. Call once, with everything that was moved. \p parts may go away.
void watchForks(const Part *parts, size_t partCount, const Config &config,
                Messages &messages);

// For the plan of a fork (ForkPlan.cpp).

struct SegmentRanges {
  const Range *first, *last;
  const Range *begin() const { return first; }
  const Range *end() const { return last; }
};
/// What was moved onto hugetlb pages, in the order of addresses.
SegmentRanges segmentsOnLargePages();
uint64_t segmentHugeBytes();

/// Whether the C library's variables and ours are among them (a static
/// program): no copy can be put over these in the child.
bool segmentsHoldLibraries();

/// Moves them back to \p source for good. All of \p list that is theirs, or an
/// error; what has gone back stays there. pre: one thread, signals blocked.
int segmentsGoBack(const ForkList &list, Source source);

/// Nothing of them is on large pages any more.
void segmentsHaveLeft();

} // namespace mpg

#endif // MPG_RUNTIME_SEGMENTFORK_H
