// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which parts of .data and .bss are on hugetlb pages. A fork() asks for them.

#ifndef MPG_RUNTIME_LARGESEGMENTS_H
#define MPG_RUNTIME_LARGESEGMENTS_H

#include "base/Env.h"
#include "base/Messages.h"
#include "pages/LargeMemory.h"
#include "segments/Mover.h"

namespace mpg {

/// Call once, with everything that was moved. \p parts may go away.
void noteLargeSegments(const Part *parts, size_t partCount,
                       const Config &config, Messages &messages);

// For a fork().

struct SegmentRanges {
  const Range *first, *last;
  const Range *begin() const { return first; }
  const Range *end() const { return last; }
};
/// What was moved onto hugetlb pages, in the order of addresses.
SegmentRanges segmentsOnLargePages();
uint64_t segmentHugeBytes();

/// Whether the C library's variables and ours are among them (a static
/// program): a child cannot do without these for a moment.
bool segmentsHoldLibraries();

/// They have left hugetlb pages for good.
void segmentsHaveLeft(ThpBytes thpBytes, const void *context);

} // namespace mpg

#endif // MPG_RUNTIME_LARGESEGMENTS_H
