// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One mapping holds the copies of all stretches, one behind the other, so that
// a heap in thousands of pieces does not take thousands of mappings twice.
//
// Other threads may write while the copy is made. The child sees some of that,
// or not; it has none of these threads, and what their locks guard it may not
// use in any case. The forking thread's own writes are all in it.

#include "ForkCopy.h"

using namespace mpg;

int ForkCopy::make(const ForkList &from, bool (*which)(ForkOwner),
                   Source source, size_t granuleBytes) {
  size_t bytes = 0;
  for (const ForkStretch &stretch : from)
    bytes += which(stretch.owner) ? stretch.range.bytes() : 0;
  if (int error = buildAway(source, bytes, granuleBytes, nullptr, memory))
    return error;
  list = &from;
  wanted = which;
  granule = granuleBytes;
  // New memory is untouched; under an emulator the file may say otherwise.
  canTell = !isTouched({memory.range.start, memory.range.start + granule});
  uintptr_t to = memory.range.start;
  for (const ForkStretch &stretch : from) {
    Range rest = wanted(stretch.owner) ? stretch.range : Range{};
    while (!rest.empty()) {
      bool touched;
      size_t run = touchedRun(rest, granule, touched);
      if (touched)
        copyPages(to, rest.start, run);
      rest.start += run;
      to += run;
    }
  }
  return 0;
}

/// \p from: where its copy begins.
bool ForkCopy::moveStretch(const ForkStretch &stretch, uintptr_t from,
                           ForkMoved moved) {
  GranuleMap granules;
  bool all = true;
  for (Range rest = stretch.range; !rest.empty();) {
    bool isOurs = canTell && granules.isOnlyOurs(rest.start);
    uintptr_t end = rest.start + granule;
    while (end < rest.end && isOurs == (canTell && granules.isOnlyOurs(end)))
      end += granule;
    size_t bytes = end - rest.start;
    Away piece{{from, from + bytes}, memory.source, -1};
    if (isOurs || moveInto(piece, rest.start, granule)) {
      mpg::discard(piece);
      all = false;
    } else {
      moved({{rest.start, end}, stretch.owner}, memory.source);
    }
    from += bytes;
    rest.start = end;
  }
  return all;
}

bool ForkCopy::moveIn(ForkMoved moved) {
  bool all = true;
  uintptr_t from = memory.range.start;
  for (const ForkStretch &stretch : *list) {
    if (!wanted(stretch.owner))
      continue;
    all &= moveStretch(stretch, from, moved);
    from += stretch.range.bytes();
  }
  memory = Away{}; // piece by piece it has gone
  return all;
}

void ForkCopy::discard() { mpg::discard(memory); }

void mpg::replaceUntouched(const ForkList &list, Source source,
                           size_t granuleBytes, ForkMoved moved) {
  for (const ForkStretch &stretch : list) {
    Range rest = stretch.range;
    while (!rest.empty()) {
      bool touched;
      size_t run = touchedRun(rest, granuleBytes, touched);
      Away away;
      if (!touched && !buildAway(source, run, granuleBytes, nullptr, away)) {
        if (moveInto(away, rest.start, granuleBytes, Contents::zero))
          discard(away);
        else
          moved({{rest.start, rest.start + run}, stretch.owner}, source);
      }
      rest.start += run;
    }
  }
}
