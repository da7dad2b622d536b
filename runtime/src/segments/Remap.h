// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .data and .bss of the program (and, on request, of its libraries) onto large
// pages, before main; and which parts of them are on hugetlb pages since, which
// a fork() asks for.

#ifndef MPG_RUNTIME_REMAP_H
#define MPG_RUNTIME_REMAP_H

#include "base/Env.h"
#include "base/Messages.h"
#include "pages/LargeMemory.h"
#include "segments/Mover.h"

namespace mpg {

/// Moves every granule that lies wholly in a writable segment and outside of
/// RELRO; values, addresses and protection stay as they are. What could not be
/// moved stays on normal pages, and one line says how much and why.
/// pre: probePages() was called; may be called once.
/// \p threads: of the process, now. \p touch: what MPG_FIRST_TOUCH=start does
/// with .bss that is on large pages; it is not called else.
void remapSegments(const Config &config, Messages &messages, unsigned threads,
                   void (*touch)(Range bss, const Config &, Messages &));

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

#endif // MPG_RUNTIME_REMAP_H
