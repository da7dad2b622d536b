// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heap's tables lie on normal pages, so the child has them as they were at
// the fork; in a shortage it has its blocks as they were when they were copied,
// a moment before. The heap's locks are held from before the one until after
// the other, and what it keeps in blocks without a lock the child forgets.

#include "HeapFork.h"

#include "ForkPlan.h"
#include "HeapSpace.h"
#include "SelfMaps.h"
#include "StackMove.h"

using namespace mpg;

/// The granules of frames that are written to before the child comes to its
/// handler, as far as they are on hugetlb pages.
static Range stackGranules(const ForkList &list, size_t granuleBytes) {
  constexpr size_t framesBytes = 64 << 10;
  auto here = uintptr_t(__builtin_frame_address(0));
  for (const ForkStretch &stretch : list) {
    if (stretch.owner != ForkOwner::heap || !stretch.range.contains(here))
      continue;
    uintptr_t low = roundDown(here - framesBytes, granuleBytes);
    uintptr_t high = roundUp(here + framesBytes, granuleBytes);
    return {low > stretch.range.start ? low : stretch.range.start,
            high < stretch.range.end ? high : stretch.range.end};
  }
  return {};
}

bool mpg::moveHeapStack(const ForkList &list) {
  size_t granuleBytes = heapSpace.granuleBytes();
  StackMove move{};
  move.live = stackGranules(list, granuleBytes);
  if (move.live.empty())
    return true;
  // Others may be writing to what is beside the frames.
  if (threadCount() > 1)
    return false;
  move.target = move.live.start;
  move.granuleBytes = granuleBytes;
  if (buildAway(Source::normal, move.live.bytes(), granuleBytes, nullptr,
                move.away))
    return false;
  if (moveStack(move)) {
    discard(move.away);
    return false;
  }
  heapSpace.setSource(move.live, Source::normal);
  return true;
}

void mpg::watchForks(const Config &config, Messages &messages) {
  planForks(config, config.mmapPaging, messages);
}
