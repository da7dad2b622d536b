// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RunReport.h. Some mappings carry no name; what they are is seen from
// their neighbours, as glibc lays them out:
//
//   thread stack   read-write memory right above a guard without rights
//   thread heap    begins on a 64 MiB border, the rest of which has no rights

#include "Process/RunReport.h"
#include "Elf/Image.h"
#include "Support/Format.h"
#include "Support/StableSort.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cstring>
#include <set>

using namespace llvm;
using namespace mpg;

static constexpr uint64_t threadHeapBytes = 64 << 20;
static constexpr uint64_t largestGuardBytes = 1 << 20;

StringRef mpg::regionName(RunRegion region) {
  static constexpr StringRef names[] = {
      "data", "bss",     "heap",   "stack", "thread-stack", "thread-heap",
      "mmap", "library", "shared", "text",  "rodata",       "library-text"};
  return names[size_t(region)];
}

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

/// Adds \p bytes of \p area; what the kernel counts for all of it is shared out
/// evenly.
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
  for (const ProgramSegment &segment : segments) {
    // The pages at both ends are the segment's wholly.
    uint64_t end = alignTo(segment.end, area.pageBytes);
    uint64_t all =
        bytesWithin(area, alignDown(segment.start, area.pageBytes), end);
    if (all == 0)
      continue;
    uint64_t bss = std::min(all, bytesWithin(area, segment.fileEnd, end));
    add(RunRegion::bss, area, bss);
    add(RunRegion::data, area, all - bss);
    taken += all;
  }
  return taken > 0;
}

/// How much of \p area is libmpg's heap. Not always all of it: the kernel makes
/// one mapping of neighbours that are alike.
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
  bool isMoved = false; // what is beside the file's part
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

HeapRange mpg::getHeap(const mpg_state &state) {
  uint64_t end = std::max(state.heapStart, state.heapEnd);
  return {state.heapStart, end, std::max(end, state.heapTablesEnd)};
}

std::unique_ptr<mpg_state> mpg::checkedState(StringRef bytes) {
  if (bytes.size() < sizeof(mpg_state))
    return nullptr;
  auto state = std::make_unique<mpg_state>();
  memcpy(state.get(), bytes.data(), sizeof(mpg_state));
  if (state->magic != MPG_STATE_MAGIC ||
      state->structBytes != sizeof(mpg_state) || state->pid == 0)
    return nullptr;
  state->regionCount =
      std::min<uint32_t>(state->regionCount, MPG_STATE_REGIONS);
  state->messageCount =
      std::min<uint32_t>(state->messageCount, MPG_STATE_MESSAGES);
  for (mpg_state_region &region : state->regions)
    region.reason[MPG_STATE_TEXT - 1] = '\0';
  for (mpg_state_message &message : state->messages)
    message.text[MPG_STATE_TEXT - 1] = '\0';
  state->library[MPG_STATE_TEXT - 1] = '\0';
  return state;
}

static std::optional<RunRegion> regionOfKind(uint32_t kind) {
  switch (kind) {
  case MPG_REGION_DATA:
    return RunRegion::data;
  case MPG_REGION_BSS:
    return RunRegion::bss;
  case MPG_REGION_HEAP:
    return RunRegion::heap;
  case MPG_REGION_STACK:
    return RunRegion::stack;
  case MPG_REGION_THREAD_STACK:
    return RunRegion::threadStack;
  case MPG_REGION_LIBRARY:
    return RunRegion::library;
  case MPG_REGION_TEXT:
    return RunRegion::text;
  case MPG_REGION_RODATA:
    return RunRegion::rodata;
  }
  return std::nullopt;
}

/// Texts of a program's memory may hold anything; JSON and terminals may not.
static std::string cleanText(const char *text) {
  return printable(json::fixUTF8(text));
}

/// As --mode and MPG_MODE spell it; nothing for a number that has no name.
static std::optional<StringRef> modeName(uint32_t mode) {
  static constexpr StringRef names[] = {"auto", "hugetlb", "thp", "none"};
  if (mode >= std::size(names))
    return std::nullopt;
  return names[mode];
}

/// The region in its place; a new one if there is none.
static RegionUse &findOrInsert(std::vector<RegionUse> &regions,
                               RunRegion region) {
  auto at =
      std::find_if(regions.begin(), regions.end(),
                   [&](const RegionUse &use) { return use.region >= region; });
  if (at == regions.end() || at->region != region) {
    at = regions.insert(at, RegionUse());
    at->region = region;
  }
  return *at;
}

/// Of the heap; others have theirs from the mappings, or what is there now.
static void addPeaks(RunReport &report, const mpg_state &state) {
  for (RegionUse &use : report.regions) {
    if (use.region == RunRegion::heap && state.heapPeakBytes > use.bytes) {
      use.peakBytes = state.heapPeakBytes;
      use.peakHugeBytes =
          std::min<uint64_t>(state.heapPeakHugeBytes, state.heapPeakBytes);
    } else if (use.peakBytes <= use.bytes) {
      use.peakBytes = use.bytes;
      use.peakHugeBytes = use.hugeBytes;
    }
  }
}

void mpg::addPeakMappings(RunReport &report,
                          const std::vector<RegionUse> &regions) {
  for (const RegionUse &before : regions) {
    bool goesBack = before.region == RunRegion::threadStack ||
                    before.region == RunRegion::threadHeap ||
                    before.region == RunRegion::mmap;
    if (!goesBack || !before.bytes)
      continue;
    RegionUse &use = findOrInsert(report.regions, before.region);
    if (before.bytes <= use.bytes)
      continue;
    use.peakBytes = before.bytes;
    use.peakHugeBytes = before.hugeBytes;
  }
}

/// libmpg moves data of libraries if asked, and of those that are there when it
/// starts.
static void explainLibraries(RunReport &report) {
  for (RegionUse &use : report.regions)
    if (use.canMove && use.reason.empty() && report.mode != "none")
      use.reason = report.asksForLibraries
                       ? "data of libraries loaded later (dlopen) is left "
                         "alone; fix: LD_PRELOAD them"
                       : "data of libraries is left alone; fix: MPG_REMAP=all";
}

void mpg::addState(RunReport &report, const mpg_state &state) {
  report.isReplaced = !report.endedAs.empty();
  if (report.isReplaced)
    return;
  report.hasState = true;
  report.library = cleanText(state.library);
  report.ownHeap = state.heapEnd > state.heapStart;
  if (std::optional<StringRef> mode = modeName(state.mode))
    report.mode = mode->str();
  report.isPeakCounted = state.peakHugetlbBytes != 0;
  report.fallback = state.fallback != 0;
  report.peakHugetlbBytes =
      std::max<uint64_t>(report.peakHugetlbBytes, state.peakHugetlbBytes);
  for (uint32_t index = 0; index < state.messageCount; ++index)
    report.messages.emplace_back(state.messages[index].code,
                                 cleanText(state.messages[index].text));
  if (state.heapPeakBytes)
    findOrInsert(report.regions, RunRegion::heap);
  bool wanted = !report.measured;
  // libmpg has seen the pages of the pool; transparent ones it has asked for.
  bool isPool =
      report.mode == "hugetlb" || (report.mode == "auto" && !report.fallback);
  uint64_t missing[runRegionCount] = {};
  for (uint32_t index = 0; index < state.regionCount; ++index) {
    const mpg_state_region &from = state.regions[index];
    std::optional<RunRegion> region = regionOfKind(from.kind);
    if (!region)
      continue;
    auto at = std::find_if(
        report.regions.begin(), report.regions.end(),
        [&](const RegionUse &use) { return use.region == *region; });
    if (at == report.regions.end() && !wanted)
      continue;
    RegionUse &use = findOrInsert(report.regions, *region);
    if (wanted) {
      use.bytes += from.bytes;
      (isPool ? use.hugeBytes : use.unknownBytes) += from.hugeBytes;
      use.pageBytes = std::max<uint64_t>(use.pageBytes, from.pageBytes);
    }
    use.pagedInBytes += from.pagedInBytes;
    // A program may have several segments: the reason of what is missing most.
    uint64_t left = from.bytes - std::min(from.hugeBytes, from.bytes);
    uint64_t &max = missing[size_t(*region)];
    if (use.reason.empty() || (from.reason[0] && left > max)) {
      use.reason = cleanText(from.reason);
      max = left;
    }
  }
  explainLibraries(report);
  addPeaks(report, state);
}

/// A text that another process may be writing, or that has no end.
template <size_t length>
static std::string getText(const char (&text)[length]) {
  return cleanText(std::string(text, strnlen(text, length)).c_str());
}

void mpg::addProcesses(RunReport &report, const mpg_state_table &table) {
  report.hasProcesses = true;
  uint32_t count = std::min<uint32_t>(table.taken, MPG_STATE_PROCESSES);
  report.processesLost = table.taken - count;
  for (const mpg_state_process &from : ArrayRef(table.processes, count)) {
    if (!from.pid) // ended before it had written anything
      continue;
    ProcessUse use;
    use.pid = from.pid;
    use.parent = from.parent;
    use.command = getText(from.command);
    use.mode = modeName(from.mode).value_or("auto").str();
    use.hasEnded = from.hasEnded != 0;
    use.bytes = from.bytes;
    use.hugeBytes = std::min(from.hugeBytes, from.bytes);
    use.poolBytes = std::min(from.poolBytes, use.hugeBytes);
    use.heapPeakBytes = from.heapPeakBytes;
    use.heapPeakHugeBytes = std::min(from.heapPeakHugeBytes, use.heapPeakBytes);
    use.reason = getText(from.reason);
    report.processes.push_back(std::move(use));
  }
  stableSort(report.processes, [](const ProcessUse &a, const ProcessUse &b) {
    return a.bytes > b.bytes;
  });
}

std::optional<unsigned> mpg::findCrowdedNode(const RunReport &report,
                                             const RegionUse &use) {
  constexpr uint64_t minBytes = 32 << 20;
  // A thread's first page is written by the thread that starts it.
  constexpr uint64_t minStackBytes = 8 << 10;
  bool isArrays =
      use.region == RunRegion::data || use.region == RunRegion::bss ||
      use.region == RunRegion::heap || use.region == RunRegion::mmap;
  auto max = std::max_element(use.nodes.begin(), use.nodes.end());
  if (!isArrays || max == use.nodes.end() || use.bytes < minBytes ||
      *max < use.bytes / 10 * 9)
    return std::nullopt;
  auto crowded = size_t(max - use.nodes.begin());
  for (const RegionUse &other : report.regions)
    for (size_t node = 0; node < other.nodes.size(); ++node)
      if (other.region == RunRegion::threadStack && node != crowded &&
          other.nodes[node] >= minStackBytes)
        return unsigned(crowded);
  return std::nullopt;
}

std::string mpg::describeAbsence(const RunReport &report) {
  if (!report.unheard.empty())
    return "what libmpg did is not known: " + report.unheard;
  if (!report.isReplaced)
    return "libmpg was not at work in the program";
  return "libmpg was not at work in " + printable(report.endedAs) +
         ", which the program became by exec" +
         (report.hasProcesses ? ""
                              : "; with --children it also goes into programs "
                                "that the first one starts");
}

/// Of libmpg's words only those about the pool count: it saw these pages.
static bool isNotKnown(const RunReport &report) {
  return report.regions.empty() ||
         any_of(report.regions,
                [](const RegionUse &use) { return use.unknownBytes > 0; });
}

bool mpg::isOfPageCache(RunRegion region) {
  return region == RunRegion::text || region == RunRegion::rodata ||
         region == RunRegion::libraryText;
}

uint64_t mpg::forgivenBytes(RunRegion region) {
  bool isLate = region == RunRegion::stack || region == RunRegion::heap;
  return (isLate ? 3 : 2) * largePageBytes;
}

std::vector<std::string> mpg::findMissing(const RunReport &report) {
  std::vector<std::string> missing;
  if (!report.hasState)
    missing.push_back(describeAbsence(report));
  else if (!report.measured && isNotKnown(report))
    missing.push_back("not known: the program's memory could not be looked at "
                      "(it was killed, or may not be traced and ended by "
                      "_exit), and that libmpg has asked for pages is no "
                      "proof");
  for (const RegionUse &use : report.regions) {
    // Large pages are for the stacks of few threads; only of these there is a
    // reason if they are not there.
    bool isMissed = use.region == RunRegion::threadStack && !use.reason.empty();
    bool isOurs = use.region == RunRegion::data ||
                  use.region == RunRegion::bss ||
                  use.region == RunRegion::stack || isMissed ||
                  (use.region == RunRegion::heap && report.ownHeap);
    if (!isOurs || use.peakBytes < use.peakHugeBytes + use.unknownBytes +
                                       forgivenBytes(use.region))
      continue;
    bool isOver = use.peakBytes > use.bytes;
    std::string text = formatBytes(use.peakBytes - use.peakHugeBytes) + " of " +
                       formatBytes(use.peakBytes) + " of " +
                       regionName(use.region).str() +
                       (isOver ? " were" : " are") + " on normal pages";
    if (!use.reason.empty())
      text += ": " + use.reason;
    missing.push_back(std::move(text));
  }
  return missing;
}

std::vector<std::string> mpg::findMissingText(const RunReport &report) {
  std::vector<std::string> missing;
  if (!report.measured)
    missing.push_back("not known: the program's memory could not be looked at");
  for (const RegionUse &use : report.regions) {
    bool isNothingLarge =
        use.hugeBytes == 0 && use.mappedBytes >= largePageBytes;
    if (isOfPageCache(use.region) &&
        (isNothingLarge ||
         use.mappedBytes >= use.hugeBytes + forgivenBytes(use.region)))
      missing.push_back(formatBytes(use.mappedBytes - use.hugeBytes) + " of " +
                        formatBytes(use.mappedBytes) + " of " +
                        regionName(use.region).str() +
                        " are not on large pages: " + use.reason);
  }
  return missing;
}
