// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Audit/Regions.h"
#include "Audit/Checks.h"
#include "Elf/HugeLayout.h"
#include <algorithm>
#include <elf.h>

using namespace llvm;
using namespace mpg;

namespace {

/// What a target can put on large pages at all.
struct TargetReach {
  bool data, bss, heap, stack;
};

} // namespace

/// HW:libhugetlbfs-heap: its malloc hook died with glibc 2.34. HW:thp-data:
/// the kernel gives file-backed .data no large pages, .bss it does.
static constexpr TargetReach reaches[targetCount] = {
    {true, true, true, true},    // fugaku
    {true, true, true, true},    // mpg
    {true, true, false, false},  // libhugetlbfs
    {false, true, true, false}}; // thp

/// What a library takes by brk is beside the heap that malloc serves.
static bool isBesideHeap(const Finding &finding) {
  return finding.id == FindingId::mpg130 && !finding.via.empty();
}

static std::vector<FindingId> present(ArrayRef<Finding> findings,
                                      ArrayRef<FindingId> candidates) {
  std::vector<FindingId> ids;
  for (const Finding &finding : findings)
    if (finding.severity >= Severity::warning && !isBesideHeap(finding) &&
        is_contained(candidates, finding.id) && !is_contained(ids, finding.id))
      ids.push_back(finding.id);
  return ids;
}

/// Where a runtime that moves whole granules can put large pages: everything
/// when the layout is free of conflicts, else what fills a granule.
static std::vector<AddressRange> movableRanges(const Subject &subject) {
  const Image &image = subject.image;
  std::vector<AddressRange> inside =
      interiorRanges(image.loads(), image.segments(), subject.hugeBytes);
  if (subject.target == Target::thp ||
      !findOverlaps(image.loads(), subject.hugeBytes).empty())
    return inside;
  std::vector<AddressRange> ranges;
  for (const Segment &load : image.loads())
    if (load.writable())
      ranges.push_back({load.address, load.end()});
  const Segment *relro = nullptr; // the loader obeys the last one
  for (const Segment &segment : image.segments())
    if (segment.type == PT_GNU_RELRO)
      relro = &segment;
  if (relro)
    subtractRange(ranges, {roundDown(relro->address, subject.hugeBytes),
                           roundUp(relro->end(), subject.hugeBytes)});
  return ranges;
}

static Region sectionRegion(const Subject &subject, StringRef name,
                            StringRef sectionName, bool reachable,
                            ArrayRef<Finding> findings) {
  Region region = {name, 0, 0, false, {}};
  const Section *section = subject.image.findSection(sectionName);
  if (!section)
    return region;
  region.bytes = section->bytes;
  region.reachable = reachable;
  region.because = present(findings, {FindingId::mpg102, FindingId::mpg103,
                                      FindingId::mpg112, FindingId::mpg150});
  bool allOrNothing = subject.target == Target::fugaku ||
                      subject.target == Target::libhugetlbfs;
  bool blocked = any_of(region.because, [](FindingId id) {
    return id == FindingId::mpg112 || id == FindingId::mpg150;
  });
  if (allOrNothing)
    blocked |= !region.because.empty();
  if (reachable && !blocked)
    region.eligibleBytes = allOrNothing
                               ? region.bytes
                               : coveredBytes(movableRanges(subject),
                                              section->address, section->bytes);
  region.eligible = region.bytes > 0 && region.eligibleBytes == region.bytes;
  if (region.bytes == 0 || region.eligible || !reachable)
    region.because.clear();
  return region;
}

static Region runTimeRegion(StringRef name, bool reachable,
                            std::vector<FindingId> because) {
  bool eligible = reachable && because.empty();
  if (!reachable)
    because.clear();
  return {name, 0, 0, eligible, std::move(because), reachable, true};
}

static uint64_t codeBytes(const Image &image) {
  uint64_t sum = 0;
  for (const Segment &load : image.loads())
    if (load.executable() && !load.writable())
      sum += load.memoryBytes;
  return sum;
}

std::vector<Region> mpg::collectRegions(const Subject &subject,
                                        ArrayRef<Finding> findings) {
  if (!subject.image.isProgram())
    return {};
  const TargetReach &reach = reaches[unsigned(subject.target)];
  std::vector<Region> regions;
  regions.push_back({"text", codeBytes(subject.image), 0, false, {}});
  regions.push_back(
      sectionRegion(subject, "data", ".data", reach.data, findings));
  regions.push_back(sectionRegion(subject, "bss", ".bss", reach.bss, findings));
  regions.push_back(
      runTimeRegion("heap", reach.heap,
                    present(findings, {FindingId::mpg110, FindingId::mpg111,
                                       FindingId::mpg112, FindingId::mpg113,
                                       FindingId::mpg114, FindingId::mpg130,
                                       FindingId::mpg131, FindingId::mpg132})));
  regions.push_back(
      runTimeRegion("stack", reach.stack,
                    present(findings, {FindingId::mpg110, FindingId::mpg112})));
  regions.push_back(
      runTimeRegion("thread-stack", reach.stack,
                    present(findings, {FindingId::mpg104, FindingId::mpg110,
                                       FindingId::mpg111, FindingId::mpg112})));
  return regions;
}

std::vector<LargeSymbol> mpg::findLargestSymbols(Image &image, unsigned count) {
  constexpr uint64_t smallestBytes = 4096; // less never matters to a page
  std::vector<LargeSymbol> largest;
  ArrayRef<Section> sections = image.sections();
  image.forEachSymbol([&](const Symbol &symbol) {
    if ((symbol.type != STT_OBJECT && symbol.type != STT_COMMON) ||
        symbol.bytes < smallestBytes || symbol.section >= sections.size())
      return;
    StringRef section = sections[symbol.section].name;
    if (section != ".data" && section != ".bss")
      return;
    if (largest.size() == count && symbol.bytes <= largest.back().bytes)
      return;
    auto before = std::find_if(
        largest.begin(), largest.end(),
        [&](const LargeSymbol &other) { return other.bytes < symbol.bytes; });
    largest.insert(before, {symbol.name.str(), section.str(), symbol.bytes});
    if (largest.size() > count)
      largest.pop_back();
  });
  return largest;
}
