// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which of .data and .bss is on hugetlb pages, for a fork().

#include "segments/LargeSegments.h"

using namespace mpg;

namespace {

constexpr size_t maxRanges = 64;

/// What was reported to mpgrun.
struct Region {
  mpg_region_kind kind = MPG_REGION_DATA;
  Range range;
};

struct SegmentWatch {
  size_t granuleBytes = 0;
  Messages *messages = nullptr;
  bool holdsUs = false; ///< our variables and the C library's
  size_t count = 0;
  Range moved[maxRanges]; ///< onto hugetlb pages, by addresses; none touch
  size_t regionCount = 0;
  Region regions[maxRanges];
};

} // namespace

static SegmentWatch watch;

static void addMoved(Range range) {
  if (watch.count && watch.moved[watch.count - 1].end == range.start)
    watch.moved[watch.count - 1].end = range.end;
  else if (watch.count < maxRanges)
    watch.moved[watch.count++] = range;
}

SegmentRanges mpg::segmentsOnLargePages() {
  return {watch.moved, watch.moved + watch.count};
}

uint64_t mpg::segmentHugeBytes() {
  uint64_t bytes = 0;
  for (Range range : segmentsOnLargePages())
    bytes += range.bytes();
  return bytes;
}

bool mpg::segmentsHoldLibraries() { return watch.count && watch.holdsUs; }

void mpg::segmentsHaveLeft(ThpBytes thpBytes, const void *context) {
  watch.count = 0;
  for (size_t i = 0; i < watch.regionCount; ++i) {
    const Region &region = watch.regions[i];
    watch.messages->region(region.kind, region.range,
                           thpBytes(context, region.range), watch.granuleBytes,
                           movedByForkReason);
  }
}

//===----------------------------------------------------------------------===//
// Start
//===----------------------------------------------------------------------===//

static void addRegion(mpg_region_kind kind, Range range) {
  if (!range.empty() && watch.regionCount < maxRanges)
    watch.regions[watch.regionCount++] = {kind, range};
}

static void addRegions(const Segment &segment) {
  if (segment.isLibrary)
    return addRegion(MPG_REGION_LIBRARY, segment.range);
  addRegion(MPG_REGION_DATA, segment.data());
  addRegion(MPG_REGION_BSS, segment.bss());
}

void mpg::noteLargeSegments(const Part *parts, size_t partCount,
                            const Config &config, Messages &messages) {
  watch.granuleBytes = config.hugeBytes;
  watch.messages = &messages;
  auto us = uintptr_t(&watch);
  for (size_t i = 0; i < partCount; ++i) {
    const Part &part = parts[i];
    Range large{part.range.start, part.hugetlbEnd};
    if (large.empty())
      continue;
    addMoved(large);
    if (i == 0 || parts[i - 1].segment != part.segment)
      addRegions(*part.segment);
    // Not only its large part: the C library's variables lie apart from ours.
    watch.holdsUs |= part.segment->range.contains(us);
  }
}
