// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HugeLayout.h.

#include "Elf/HugeLayout.h"
#include "Support/StableSort.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <elf.h>

using namespace llvm;
using namespace mpg;

uint64_t mpg::roundDown(uint64_t value, uint64_t unit) {
  return value & ~(unit - 1);
}

uint64_t mpg::roundUp(uint64_t value, uint64_t unit) {
  // A damaged file may end at the last byte of the address space.
  uint64_t max = roundDown(UINT64_MAX, unit);
  return value > max ? max : roundDown(value + unit - 1, unit);
}

std::vector<OverlapPair> mpg::findOverlaps(ArrayRef<Segment> loads,
                                           uint64_t hugeBytes) {
  // Neighbours in the table alone, as libhugetlbfs has it (HW:pair-rule); a
  // table that is not in order of addresses is a defect (HeaderRules.cpp).
  std::vector<OverlapPair> pairs;
  for (unsigned i = 1; i < loads.size(); ++i) {
    const Segment &first = loads[i - 1], &second = loads[i];
    if (!first.writable() && !second.writable())
      continue;
    uint64_t end =
        first.writable() ? roundUp(first.end(), hugeBytes) : first.end();
    uint64_t start = second.writable() ? roundDown(second.address, hugeBytes)
                                       : second.address;
    if (end > start)
      pairs.push_back({i - 1, i});
  }
  return pairs;
}

uint64_t mpg::writableBytes(ArrayRef<Segment> loads) {
  uint64_t sum = 0;
  for (const Segment &load : loads)
    if (load.writable())
      sum += load.memoryBytes;
  return sum;
}

uint64_t mpg::roundedOutBytes(ArrayRef<Segment> loads, uint64_t hugeBytes) {
  std::vector<AddressRange> ranges;
  for (const Segment &load : loads)
    if (load.writable())
      ranges.push_back(
          {roundDown(load.address, hugeBytes), roundUp(load.end(), hugeBytes)});
  // By address, so that a page of two segments is counted with the first.
  sortBy(ranges, &AddressRange::start);
  uint64_t sum = 0, counted = 0; // what lies below is in the sum
  for (const AddressRange &range : ranges) {
    sum += AddressRange{std::max(range.start, counted), range.end}.bytes();
    counted = std::max(counted, range.end);
  }
  return sum;
}

void mpg::subtractRange(std::vector<AddressRange> &ranges, AddressRange hole) {
  std::vector<AddressRange> kept;
  for (const AddressRange &range : ranges) {
    AddressRange below = {range.start, std::min(range.end, hole.start)};
    AddressRange above = {std::max(range.start, hole.end), range.end};
    if (below.bytes())
      kept.push_back(below);
    if (above.bytes())
      kept.push_back(above);
  }
  ranges = std::move(kept);
}

std::vector<AddressRange> mpg::interiorRanges(ArrayRef<Segment> loads,
                                              ArrayRef<Segment> segments,
                                              uint64_t hugeBytes) {
  std::vector<AddressRange> ranges;
  for (const Segment &load : loads)
    if (load.writable())
      ranges.push_back({load.address, load.end()});
  // The loader obeys the last one.
  const Segment *relro = nullptr;
  for (const Segment &segment : segments)
    if (segment.type == PT_GNU_RELRO && segment.memoryBytes)
      relro = &segment;
  if (relro)
    subtractRange(ranges, {relro->address, relro->end()});
  std::vector<AddressRange> interior;
  for (const AddressRange &range : ranges) {
    AddressRange whole = {roundUp(range.start, hugeBytes),
                          roundDown(range.end, hugeBytes)};
    if (whole.bytes())
      interior.push_back(whole);
  }
  return interior;
}

uint64_t mpg::interiorBytes(ArrayRef<Segment> loads, ArrayRef<Segment> segments,
                            uint64_t hugeBytes) {
  uint64_t sum = 0;
  for (const AddressRange &range : interiorRanges(loads, segments, hugeBytes))
    sum += range.bytes();
  return sum;
}

/// Edges of segments are where the kernel maps them.
static constexpr uint64_t basePageBytes = 4096;

/// Whether something of the file beside \p own is in [start, end).
static bool isShared(ArrayRef<Segment> loads, const Segment &own,
                     uint64_t start, uint64_t end) {
  return any_of(loads, [&](const Segment &load) {
    return &load != &own && roundDown(load.address, basePageBytes) < end &&
           roundUp(load.end(), basePageBytes) > start;
  });
}

/// The pages that can move of the writable segment \p own, if the program is
/// loaded \p shift higher.
static uint64_t movedPages(ArrayRef<Segment> loads, const Segment &own,
                           uint64_t start, uint64_t hugeBytes, uint64_t shift) {
  bool hasRelro = start > own.address;
  uint64_t low = SaturatingAdd(start, shift);
  if (!hasRelro)
    low = roundDown(low, basePageBytes);
  uint64_t high = roundUp(SaturatingAdd(own.end(), shift), basePageBytes);
  if (high <= low || (high - low) * 2 < hugeBytes)
    return 0;
  auto isTaken = [&](uint64_t frame) {
    uint64_t end = frame + hugeBytes;
    bool isWhole = frame >= low && end <= high;
    uint64_t ours = std::min(end, high) - std::max(frame, low);
    return isWhole ||
           (!(hasRelro && frame < low) && ours * 2 >= hugeBytes &&
            !isShared(loads, own, frame - std::min(shift, frame), end - shift));
  };
  uint64_t first = roundDown(low, hugeBytes);
  uint64_t last = roundDown(high - 1, hugeBytes);
  if (first == last)
    return isTaken(first);
  return (last - first) / hugeBytes - 1 + isTaken(first) + isTaken(last);
}

MovedPages mpg::countMovedPages(ArrayRef<Segment> loads,
                                const std::optional<Segment> &relro,
                                uint64_t hugeBytes, bool isMovable) {
  MovedPages moved = {UINT64_MAX, 0};
  for (uint64_t shift = 0; shift < (isMovable ? hugeBytes : 1);
       shift += basePageBytes) {
    uint64_t pages = 0;
    for (const Segment &load : loads) {
      if (!load.writable())
        continue;
      bool hasRelro = relro && relro->address <= load.address &&
                      relro->end() > load.address;
      pages += movedPages(loads, load, hasRelro ? relro->end() : load.address,
                          hugeBytes, shift);
    }
    moved.min = std::min(moved.min, pages);
    moved.max = std::max(moved.max, pages);
  }
  return moved;
}

uint64_t mpg::fileFrameBytes(const Segment &load, uint64_t hugeBytes) {
  if (load.writable() || (load.address - load.offset) % hugeBytes != 0)
    return 0;
  uint64_t bytes = std::min(load.fileBytes, load.memoryBytes);
  return AddressRange{roundUp(load.address, hugeBytes),
                      roundDown(SaturatingAdd(load.address, bytes), hugeBytes)}
      .bytes();
}

uint64_t mpg::coveredBytes(ArrayRef<AddressRange> ranges, uint64_t start,
                           uint64_t bytes) {
  uint64_t end = start + bytes < start ? UINT64_MAX : start + bytes;
  uint64_t sum = 0;
  for (const AddressRange &range : ranges)
    sum += AddressRange{std::max(range.start, start), std::min(range.end, end)}
               .bytes();
  return sum;
}
