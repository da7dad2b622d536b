// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A piece is either touched memory, at most 32 MiB of it, which is copied, or
// untouched .bss of any length, which is not: so the extra memory is bounded
// whatever the size of the program, and untouched .bss costs one mapping.
// Pieces are kept few because the kernel never merges hugetlb mappings.

#include "segments/Remap.h"

#include "base/Cgroup.h"
#include "base/SelfMaps.h"
#include "pages/Shortage.h"

#include <errno.h>

using namespace mpg;

/// With more pieces than this, untouched .bss is moved like touched .bss: a
/// process may have 65530 mappings, and the program needs some of them.
static constexpr unsigned manyPieces = 2048;

/// Touched memory that is moved at once. It exists twice for a moment, and a
/// third time where the kernel cannot move it.
static size_t pieceBytes(Source source, size_t hugePageBytes) {
  size_t bytes = canMove(source) ? 32 << 20 : 16 << 20;
  return bytes > hugePageBytes ? bytes : hugePageBytes;
}

Mover::Mover(const Config &config)
    : hugePageBytes(config.hugeBytes),
      thpAfterwards(config.mode == Mode::automatic),
      demand(config.bssPaging == Paging::demand || config.bssInParts),
      demandThp(demand || !config.pagingGiven), populateAll(!demand),
      useHugetlb(config.mode != Mode::thp), useThp(config.mode == Mode::thp) {
  if (useHugetlb && demand)
    populateAll = reservationMayFailAtStart(hugePageBytes);
  if (useThp && !thpIsAllowed())
    abandon(Source::thp, EPERM);
}

void Mover::abandon(Source what, int why) {
  if (what == Source::thp) {
    useThp = false;
  } else {
    useHugetlb = false;
    useThp = thpAfterwards && thpIsAllowed();
  }
  if (!error) {
    error = why;
    failedSource = what;
  }
}

void Mover::move(Part &part) {
  uintptr_t at = part.range.start;
  part.hugetlbEnd = part.thpEnd = at;
  while (at < part.range.end && useHugetlb) {
    Piece piece = nextPiece(part, at);
    size_t bytes = moveHugetlb(*part.segment, piece);
    if (!piece.touched && populateAll)
      part.pagedInBytes += bytes;
    at += bytes;
    part.hugetlbEnd = part.thpEnd = at;
  }
  while (at < part.range.end && useThp) {
    Piece piece = nextPiece(part, at);
    size_t pagedIn = 0, bytes = moveThp(*part.segment, piece, pagedIn);
    if (!piece.touched)
      part.promisedBytes += bytes - pagedIn;
    part.pagedInBytes += pagedIn;
    at += bytes;
    part.thpEnd = at;
  }
}

Mover::Piece Mover::nextPiece(const Part &part, uintptr_t at) {
  Source source = useHugetlb ? Source::hugetlb : Source::thp;
  size_t max = pieceBytes(source, hugePageBytes);
  uintptr_t end = part.range.end;
  uintptr_t windowEnd = end - at > max ? at + max : end;
  ++pieces;
  // A file's pages count as touched whether they are present or not. The last
  // of them may reach into the first frame of .bss.
  uintptr_t dataEnd = roundUp(part.segment->fileEnd, hugePageBytes);
  if (at < dataEnd)
    return {{at, dataEnd < windowEnd ? dataEnd : windowEnd}, true};
  if (pieces > manyPieces)
    return {{at, windowEnd}, true};
  bool touched;
  uintptr_t runEnd = at + touchedRun({at, windowEnd}, hugePageBytes, touched);
  if (!touched && runEnd == windowEnd && runEnd < end) {
    bool moreIsTouched;
    size_t more = touchedRun({runEnd, end}, hugePageBytes, moreIsTouched);
    runEnd += moreIsTouched ? 0 : more;
  }
  Piece piece{{at, runEnd}, touched};
  if (!touched && source == Source::thp)
    cutAtEdge(*part.segment, piece);
  return piece;
}

/// Maps the free address space that \p frame shares with the segment, so that
/// one mapping covers all of it. False: it cannot be had.
bool Mover::coverEdge(const Segment &segment, Range frame) const {
  size_t pageBytes = basePageBytes();
  Range covered = common({roundDown(segment.range.start, pageBytes),
                          roundUp(segment.range.end, pageBytes)},
                         frame);
  Range gaps[] = {{frame.start, covered.start}, {covered.end, frame.end}};
  for (Range gap : gaps)
    if (!gap.empty() && mapChosen(gap, Source::normal, pageBytes))
      return false;
  return true;
}

/// Advice brings no large page to a frame that the segment shares with free
/// address space, because no mapping covers all of it. If the rest cannot be
/// mapped, the frame is moved like a touched one; \p piece ends before it or
/// becomes it.
void Mover::cutAtEdge(const Segment &segment, Piece &piece) const {
  size_t pageBytes = basePageBytes();
  Range covered = innerHugeFrames({roundDown(segment.range.start, pageBytes),
                                   roundUp(segment.range.end, pageBytes)},
                                  hugePageBytes);
  Range &range = piece.range;
  if (range.start >= covered.start && range.start < covered.end) {
    range.end = range.end < covered.end ? range.end : covered.end;
    return;
  }
  range.end = range.start + hugePageBytes;
  piece.touched = !coverEdge(segment, range);
}

/// Copies the old contents into \p staged, if there are any, and puts it in
/// their place. Nothing but locals is written from the copy on.
size_t Mover::fillAndMove(const Segment &segment, Piece piece, Staged &staged,
                          size_t bytes) {
  uintptr_t target = piece.range.start;
  Source source = staged.source;
  if (piece.touched) {
    // Not the unmapped address space beside the segment in its border frames.
    size_t pageBytes = basePageBytes();
    uintptr_t from = roundDown(segment.range.start, pageBytes);
    uintptr_t to = roundUp(segment.range.end, pageBytes);
    from = from > target ? from : target;
    to = to < target + bytes ? to : target + bytes;
    copyPages(staged.range.start + (from - target), from, to - from);
  }
  int why = moveInto(staged, target, hugePageBytes,
                     piece.touched ? Contents::copied : Contents::zero);
  if (!why)
    return bytes;
  discard(staged);
  abandon(source, why);
  return 0;
}

/// Builds as much of \p bytes as possible: half of it, half of that, and so on.
/// On failure returns the error of the last frame.
int Mover::buildSome(Source source, size_t bytes, Staged &staged) const {
  for (;;) {
    int why = buildStaged(source, bytes, hugePageBytes, nullptr, staged);
    if (why != ENOMEM || bytes <= hugePageBytes)
      return why;
    bytes = roundDown(bytes / 2, hugePageBytes);
  }
}

size_t Mover::moveHugetlb(const Segment &segment, Piece piece) {
  Staged staged;
  if (int why = buildSome(Source::hugetlb, piece.range.bytes(), staged)) {
    abandon(Source::hugetlb, why);
    return 0;
  }
  size_t built = staged.range.bytes(), present = built;
  if (piece.touched || populateAll)
    present = populate(staged.range, hugePageBytes);
  if (present < built)
    shrinkStaged(staged, present);
  size_t done = 0;
  if (present)
    done = fillAndMove(segment, piece, staged, present);
  if (present < built)
    abandon(Source::hugetlb, ENOMEM);
  return done;
}

/// As much of the start of \p range as is free in whole pages and leaves others
/// an eighth of what there is; returns how much that was.
size_t Mover::pageInThp(Range range) {
  uint64_t available = 0, bytes = range.bytes();
  if (readMemoryInfo("MemAvailable:", available) &&
      bytes > available - available / 8)
    bytes = roundDown(available - available / 8, hugePageBytes);
  leftForTouch += range.bytes() - bytes;
  Range free{range.start, range.start + bytes};
  populate(free, hugePageBytes);
  adviseHuge(free);
  return bytes;
}

/// \p pagedIn: bytes that were made present although they were untouched.
size_t Mover::moveThp(const Segment &segment, Piece piece, size_t &pagedIn) {
  if (!hugePagesFitGroup(piece.range.bytes())) {
    abandon(Source::thp, ENOMEM);
    return 0;
  }
  if (!piece.touched) {
    // Advice is enough where nothing is present yet.
    if (int why = adviseHuge(piece.range, false)) {
      abandon(Source::thp, why);
      return 0;
    }
    if (!demandThp)
      pagedIn = pageInThp(piece.range);
    return piece.range.bytes();
  }
  Staged staged;
  if (int why = buildSome(Source::thp, piece.range.bytes(), staged)) {
    abandon(Source::thp, why);
    return 0;
  }
  populate(staged.range, hugePageBytes);
  size_t done = fillAndMove(segment, piece, staged, staged.range.bytes());
  if (done)
    adviseHuge({piece.range.start, piece.range.start + done});
  return done;
}
