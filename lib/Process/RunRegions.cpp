// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RunRegions.h. Some mappings have no name. Their neighbours show what they
// are, as glibc lays them out:
//
//   thread stack   read-write memory right above a guard without rights
//   thread heap    begins on a 64 MiB border, the rest of which has no rights

#include "Process/RunRegions.h"
#include "Elf/Image.h"
#include "mpg/state.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <set>

using namespace llvm;
using namespace mpg;

StringRef mpg::regionName(RunRegion region) {
  static constexpr StringRef names[] = {
      "data", "bss",     "heap",   "stack", "thread-stack", "thread-heap",
      "mmap", "library", "shared", "text",  "rodata",       "library-text"};
  return names[size_t(region)];
}

bool mpg::isOfPageCache(RunRegion region) {
  return region == RunRegion::text || region == RunRegion::rodata ||
         region == RunRegion::libraryText;
}

uint64_t mpg::forgivenBytes(RunRegion region) {
  bool isLate = region == RunRegion::stack || region == RunRegion::heap;
  return (isLate ? 3 : 2) * largePageBytes;
}

static constexpr uint64_t threadHeapBytes = 64 << 20;
static constexpr uint64_t largestGuardBytes = 1 << 20;

std::vector<ProgramSegment>
mpg::locateSegments(const std::string &path,
                    const std::vector<MappedArea> &areas,
                    StringRef mappedName) {
  if (mappedName.empty())
    mappedName = path;
  // Code stays where the kernel has put it and keeps the file's name.
  const MappedArea *first = nullptr;
  for (const MappedArea &area : areas)
    if (!first && area.name == mappedName)
      first = &area;
  std::vector<ProgramSegment> segments;
  if (!first)
    return segments;
  Error error = readImages(path, [&](Image &image) {
    if (!image.isLoadable() || image.loads().empty())
      return;
    const Segment &head = image.loads().front();
    uint64_t pageMask = first->pageBytes ? first->pageBytes - 1 : 4095;
    uint64_t bias = first->start - (head.address & ~pageMask);
    for (const Segment &load : image.loads())
      if (load.writable())
        segments.push_back({load.address + bias,
                            load.address + bias + load.fileBytes,
                            load.end() + bias});
  });
  consumeError(std::move(error));
  return segments;
}

namespace {

/// Adds mappings up to regions.
class Classifier {
public:
  Classifier(const std::vector<MappedArea> &areas,
             const std::vector<ProgramSegment> &segments, HeapRange heap)
      : areas(areas), segments(segments), heap(heap) {
    for (size_t index = 0; index < runRegionCount; ++index)
      uses[index].region = RunRegion(index);
  }
  std::vector<RegionUse> classify();
  RunRegion getRegion(size_t index) const;

private:
  void classifyArea(size_t index);
  bool classifySegments(const MappedArea &area);
  uint64_t classifyHeap(const MappedArea &area);
  bool isStack(size_t index) const;
  bool isBehindGuard(size_t index) const;
  bool isThreadHeap(size_t index) const;
  bool isLibraryData(size_t index) const;
  bool belongsToLibrary(size_t index) const;
  void add(RunRegion region, const MappedArea &area, uint64_t bytes);

  const std::vector<MappedArea> &areas;
  const std::vector<ProgramSegment> &segments;
  const HeapRange heap;
  RegionUse uses[runRegionCount];
};

} // namespace

/// Adds \p bytes of \p area, with their share of the kernel's counts of it.
static void addShare(RegionUse &use, const MappedArea &area, uint64_t bytes) {
  if (bytes == 0)
    return;
  auto share = [&](uint64_t value) {
    return uint64_t(double(value) * double(bytes) / double(area.bytes()));
  };
  use.mappedBytes += bytes;
  use.bytes += share(area.usedBytes());
  use.hugeBytes += share(area.hugeBytes());
  use.poolBytes += share(area.hugetlb ? area.poolBytes : 0);
  use.unknownBytes += share(area.unknownBytes);
  use.middleBytes += share(area.middleBytes);
  use.isMiddleKnown &= area.isMiddleKnown;
  use.setAsideBytes += share(area.setAsideBytes());
  uint64_t pageBytes = area.pageBytes;
  if (!area.hugetlb && area.thpBytes)
    pageBytes = area.thpPageBytes;
  if (area.usedBytes() || area.setAsideBytes())
    use.pageBytes = std::max(use.pageBytes, pageBytes);
  if (use.nodes.size() < area.nodes.size())
    use.nodes.resize(area.nodes.size());
  for (size_t node = 0; node < area.nodes.size(); ++node)
    use.nodes[node] += share(area.nodes[node]);
}

void Classifier::add(RunRegion region, const MappedArea &area, uint64_t bytes) {
  addShare(uses[size_t(region)], area, bytes);
}

static uint64_t bytesWithin(const MappedArea &area, uint64_t start,
                            uint64_t end) {
  start = std::max(start, area.start);
  end = std::min(end, area.end);
  return end > start ? end - start : 0;
}

/// Parts of \p area in the program's own writable segments. True if they are
/// all of it, as far as it has private pages.
bool Classifier::classifySegments(const MappedArea &area) {
  uint64_t taken = 0;
  // 0 where the list was cut off, or a program has overwritten libmpg's.
  uint64_t page = std::max<uint64_t>(area.pageBytes, 4096);
  for (const ProgramSegment &segment : segments) {
    // The pages at both ends are the segment's wholly.
    uint64_t end = alignTo(segment.end, page);
    uint64_t all = bytesWithin(area, alignDown(segment.start, page), end);
    if (all == 0)
      continue;
    uint64_t bss = std::min(all, bytesWithin(area, segment.fileEnd, end));
    add(RunRegion::bss, area, bss);
    add(RunRegion::data, area, all - bss);
    taken += all;
  }
  return taken > 0;
}

/// Adds the part of \p area that is libmpg's heap; returns its size. The kernel
/// may have joined it with neighbours that are alike.
uint64_t Classifier::classifyHeap(const MappedArea &area) {
  uint64_t taken = bytesWithin(area, heap.start, heap.end);
  add(RunRegion::heap, area, taken);
  return taken;
}

bool Classifier::isStack(size_t index) const {
  // The kernel names only the piece with the arguments, and libmpg gives those
  // in front of it advice of their own when a program has forked.
  while (index + 1 < areas.size() && areas[index].writable &&
         areas[index].name.empty() &&
         areas[index].end == areas[index + 1].start)
    ++index;
  StringRef name = areas[index].name;
  return name.starts_with("[stack") || name.contains("[stack]");
}

bool Classifier::isBehindGuard(size_t index) const {
  // Pieces on large pages lie between the guard and the top.
  size_t bottom = index;
  while (bottom > 0 && areas[bottom - 1].end == areas[bottom].start &&
         areas[bottom - 1].writable && areas[bottom - 1].name.empty())
    --bottom;
  if (bottom == 0)
    return false;
  // Since Linux 6.7 stacks refuse transparent pages, but for pieces of libmpg's
  // that request them. Other mappings are neighbours that the kernel merged.
  const MappedArea &area = areas[index];
  if (areas[bottom].refusesLargePages && !area.refusesLargePages &&
      !area.asksForLargePages && !area.hugetlb)
    return false;
  const MappedArea &guard = areas[bottom - 1];
  return guard.end == areas[bottom].start && !guard.readable &&
         !guard.writable && guard.name.empty() &&
         guard.bytes() <= largestGuardBytes;
}

bool Classifier::isThreadHeap(size_t index) const {
  const MappedArea &area = areas[index];
  return area.start % threadHeapBytes == 0 && index + 1 < areas.size() &&
         areas[index + 1].start == area.end && !areas[index + 1].readable &&
         areas[index + 1].end <= area.start + threadHeapBytes;
}

/// A file with code in front of its data; others are data that the program
/// maps.
bool Classifier::isLibraryData(size_t index) const {
  if (!areas[index].isFile || areas[index].executable)
    return false;
  for (size_t at = index; at > 0 && areas[at - 1].name == areas[index].name;
       --at)
    if (areas[at - 1].executable)
      return true;
  return false;
}

/// The pages after a library's data segment are its .bss; with MPG_REMAP=all
/// both are in pieces, some of large pages.
bool Classifier::belongsToLibrary(size_t index) const {
  if (areas[index].isFile)
    return isLibraryData(index);
  bool isMoved = false; // the mapping next to the file's has large pages
  while (index > 0 && !areas[index].isFile && areas[index].writable &&
         (areas[index].name.empty() || areas[index].hugetlb) &&
         areas[index - 1].end == areas[index].start) {
    isMoved = areas[index].hugetlb;
    --index;
  }
  return (areas[index].writable || isMoved) && isLibraryData(index);
}

RunRegion Classifier::getRegion(size_t index) const {
  const MappedArea &area = areas[index];
  StringRef name = area.name;
  if (area.shared)
    return RunRegion::shared;
  if (name == "[heap]")
    return RunRegion::heap;
  if (isStack(index))
    return RunRegion::stack;
  if (belongsToLibrary(index))
    return RunRegion::library;
  if (isThreadHeap(index))
    return RunRegion::threadHeap;
  if (isBehindGuard(index))
    return RunRegion::threadStack;
  return RunRegion::mmap;
}

void Classifier::classifyArea(size_t index) {
  const MappedArea &area = areas[index];
  // Code and constants, and the kernel's own pages, are not the program's data.
  if (!area.writable || area.bytes() == 0 || StringRef(area.name) == "[vvar]")
    return;
  if (isStateName(area.name)) // ours
    return;
  if (classifySegments(area))
    return;
  uint64_t taken = classifyHeap(area);
  taken += bytesWithin(area, heap.end, heap.tablesEnd); // only ours
  RunRegion region = getRegion(index);
  add(region, area, area.bytes() - taken);
  uses[size_t(region)].canMove |=
      region == RunRegion::library &&
      area.usedBytes() - area.hugeBytes() >= 2 * largePageBytes;
}

std::vector<RegionUse> Classifier::classify() {
  for (size_t index = 0; index < areas.size(); ++index)
    classifyArea(index);
  std::vector<RegionUse> result;
  for (RegionUse &use : uses)
    if (use.bytes || use.setAsideBytes) {
      use.peakBytes = use.bytes;
      use.peakHugeBytes = use.hugeBytes;
      result.push_back(std::move(use));
    }
  return result;
}

std::vector<RegionUse>
mpg::classifyAreas(const std::vector<MappedArea> &areas,
                   const std::vector<ProgramSegment> &segments,
                   HeapRange heap) {
  return Classifier(areas, segments, heap).classify();
}

/// Code and constants of the files other than \p program that have code.
static void addLibraryText(const std::vector<MappedArea> &areas,
                           StringRef program, RegionUse &use) {
  std::set<std::string> known = {program.str()};
  for (const MappedArea &area : areas) {
    if (!area.isFile || !area.executable || !known.insert(area.name).second)
      continue;
    for (const MappedArea *part : findUnchanging(areas, area.name)) {
      if (part->bytes() < largePageBytes)
        continue;
      addShare(use, *part, part->bytes());
      uint64_t first = alignTo(part->start, largePageBytes);
      uint64_t end = alignDown(part->end, largePageBytes);
      use.mappedBytes -= part->bytes() - (end - first);
      use.isCopied |= part->name.empty();
    }
  }
}

std::vector<RegionUse> mpg::classifyText(const std::vector<MappedArea> &areas,
                                         StringRef name, bool withLibraries) {
  RegionUse uses[3];
  uses[0].region = RunRegion::text;
  uses[1].region = RunRegion::rodata;
  for (const MappedArea *area : findUnchanging(areas, name)) {
    RegionUse &use = uses[area->executable ? 0 : 1];
    use.isCopied |= area->name.empty();
    addShare(use, *area, area->bytes());
  }
  uses[2].region = RunRegion::libraryText;
  if (withLibraries)
    addLibraryText(areas, name, uses[2]);
  std::vector<RegionUse> result;
  for (RegionUse &use : uses)
    if (use.mappedBytes >= largePageBytes) {
      use.peakBytes = use.bytes;
      use.peakHugeBytes = use.hugeBytes;
      result.push_back(std::move(use));
    }
  return result;
}

RunRegion mpg::regionOfArea(const std::vector<MappedArea> &areas,
                            size_t index) {
  const std::vector<ProgramSegment> none;
  return Classifier(areas, none, {}).getRegion(index);
}

bool mpg::isStateName(StringRef name) {
  return mpg_is_state_name(name.data(), name.size());
}
