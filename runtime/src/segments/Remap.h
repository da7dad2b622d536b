// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts .data and .bss of the program (and, on request, of its libraries) onto
// large pages before main; and keeps the list of the parts on hugetlb pages,
// which a fork() needs.

#pragma once

#include "base/Env.h"
#include "base/Messages.h"
#include "pages/LargeMemory.h"
#include "pages/Pages.h"
#include "segments/Segments.h"

namespace mpg {

// Moving in pieces (Mover.cpp). Moves ranges of .data and .bss piece by piece,
// on hugetlb pages while they last, then on transparent huge pages if the mode
// allows it. Parts that cannot be moved stay where they are.

/// A range of movable frames and what became of it.
struct Part {
  Range range;
  const Segment *segment = nullptr;
  uintptr_t hugetlbEnd = 0;   ///< from the start to here: hugetlb
  uintptr_t thpEnd = 0;       ///< from there to here: transparent huge pages
  uint64_t promisedBytes = 0; ///< of these not touched yet (demand)
  uint64_t pagedInBytes = 0;  ///< made present without contents (prepage)
};

/// pre: one thread, signals blocked. Lives on the stack: in a static program
/// the variables of this library are in the memory that is being moved.
class Mover {
public:
  explicit Mover(const Config &config);
  void move(Part &part);

  bool failed() const { return error != 0; }
  int error = 0;                         ///< the first one
  Source failedSource = Source::hugetlb; ///< what could not be had
  /// Of transparent pages that were asked for at the start: what comes at the
  /// first touch, because so much memory was not free.
  uint64_t leftForTouch = 0;

private:
  struct Piece {
    Range range;
    bool touched;
  };
  Piece nextPiece(const Part &part, uintptr_t at);
  void cutAtEdge(const Segment &segment, Piece &piece) const;
  int buildSome(Source source, size_t bytes, Staged &staged) const;
  size_t moveHugetlb(const Segment &segment, Piece piece);
  size_t moveThp(const Segment &segment, Piece piece, size_t &pagedIn);
  bool coverEdge(const Segment &segment, Range frame) const;
  size_t pageInThp(Range range);
  size_t fillAndMove(const Segment &segment, Piece piece, Staged &staged,
                     size_t bytes);
  void abandon(Source what, int why);

  const size_t hugePageBytes;
  const bool thpAfterwards; ///< what hugetlb leaves over
  const bool demand;        ///< of what the pool reserves
  const bool demandThp;     ///< of what nothing reserves
  bool populateAll;         ///< a reservation alone is not safe here
  bool useHugetlb, useThp;
  unsigned pieces = 0;
};

/// Moves every frame that is completely inside a writable segment and outside
/// of RELRO; values, addresses and protection stay. The rest stays on normal
/// pages, and one line prints how much and why. pre: probePages() was called;
/// may be called once. \p threads: of the process, now. \p touch: the action of
/// MPG_FIRST_TOUCH=start on .bss on large pages; not called otherwise.
void remapSegments(const Config &config, Messages &messages, unsigned threads,
                   void (*touch)(Range bss, const Config &, Messages &));

struct SegmentRanges {
  const Range *first, *last;
  const Range *begin() const { return first; }
  const Range *end() const { return last; }
};
/// The parts moved onto hugetlb pages, in address order.
SegmentRanges segmentsOnLargePages();
uint64_t segmentHugeBytes();

/// Whether the C library's variables and ours are among them (a static
/// program): a child cannot do without these for a moment.
bool segmentsHoldLibraries();

/// They have left hugetlb pages for good.
void segmentsHaveLeft(ThpBytes thpBytes, const void *context);

} // namespace mpg
