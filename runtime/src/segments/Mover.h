// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves ranges of .data and .bss piece by piece, on hugetlb pages while they
// last, then on transparent huge pages if the mode allows it. What cannot be
// moved stays where it is.

#ifndef MPG_RUNTIME_MOVER_H
#define MPG_RUNTIME_MOVER_H

#include "base/Env.h"
#include "pages/Pages.h"
#include "segments/Segments.h"

namespace mpg {

/// A range of movable granules and what became of it.
struct Part {
  Range range;
  const Segment *segment = nullptr;
  uintptr_t hugetlbEnd = 0;   ///< from the start to here: hugetlb
  uintptr_t thpEnd = 0;       ///< from there to here: transparent huge pages
  uint64_t promisedBytes = 0; ///< of these not touched yet (demand)
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

private:
  struct Piece {
    Range range;
    bool touched;
  };
  Piece nextPiece(const Part &part, uintptr_t at);
  void cutAtEdge(const Segment &segment, Piece &piece) const;
  int buildSome(Source source, size_t bytes, Away &away) const;
  size_t moveHugetlb(const Segment &segment, Piece piece);
  size_t moveThp(const Segment &segment, Piece piece);
  size_t fillAndMove(const Segment &segment, Piece piece, Away &away,
                     size_t bytes);
  void giveUp(Source what, int why);

  const size_t granuleBytes;
  const bool thpAfterwards; ///< what hugetlb leaves over
  const bool demand;
  bool populateAll; ///< a reservation alone is not safe here
  bool useHugetlb, useThp;
  unsigned pieces = 0;
};

} // namespace mpg

#endif // MPG_RUNTIME_MOVER_H
