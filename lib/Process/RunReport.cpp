// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RunReport.h. libmpg's words come out of memory that the program could
// write to, so counts and texts are checked before they are used.

#include "Process/RunReport.h"
#include "Support/Format.h"
#include "Support/StableSort.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <cstring>

using namespace llvm;
using namespace mpg;

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
  static constexpr std::pair<uint32_t, RunRegion> regions[] = {
      {MPG_REGION_DATA, RunRegion::data},
      {MPG_REGION_BSS, RunRegion::bss},
      {MPG_REGION_HEAP, RunRegion::heap},
      {MPG_REGION_STACK, RunRegion::stack},
      {MPG_REGION_THREAD_STACK, RunRegion::threadStack},
      {MPG_REGION_LIBRARY, RunRegion::library},
      {MPG_REGION_TEXT, RunRegion::text},
      {MPG_REGION_RODATA, RunRegion::rodata}};
  for (auto [number, region] : regions)
    if (number == kind)
      return region;
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

/// Adds the peak of the heap; other regions have theirs from their mappings.
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

/// libmpg moves data of libraries only if asked, and only of those that are
/// loaded when it starts.
static void explainLibraries(RunReport &report) {
  for (RegionUse &use : report.regions)
    if (use.canMove && use.reason.empty() && report.mode != "none")
      use.reason = report.asksForLibraries
                       ? "data of libraries loaded later (dlopen) is left "
                         "alone; fix: LD_PRELOAD them"
                       : "data of libraries is left alone; fix: MPG_REMAP=all";
}

/// Regions as libmpg reports them: sizes only where the kernel's list has none.
static void addRegions(RunReport &report, const mpg_state &state) {
  // libmpg has seen the pages of the pool; transparent ones it has asked for.
  bool isPool =
      report.mode == "hugetlb" || (report.mode == "auto" && !report.fallback);
  uint64_t missing[runRegionCount] = {};
  for (const mpg_state_region &from :
       ArrayRef(state.regions, state.regionCount)) {
    std::optional<RunRegion> region = regionOfKind(from.kind);
    if (!region)
      continue;
    bool isThere = any_of(report.regions, [&](const RegionUse &use) {
      return use.region == *region;
    });
    if (!isThere && report.measured)
      continue;
    RegionUse &use = findOrInsert(report.regions, *region);
    if (!report.measured) {
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
  for (const mpg_state_message &message :
       ArrayRef(state.messages, state.messageCount))
    report.messages.emplace_back(message.code, cleanText(message.text));
  if (state.heapPeakBytes)
    findOrInsert(report.regions, RunRegion::heap);
  addRegions(report, state);
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
  sortByMost(report.processes, &ProcessUse::bytes);
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

/// libmpg has seen pages of the pool; transparent ones it has only asked for.
static bool isNotKnown(const RunReport &report) {
  return report.regions.empty() ||
         any_of(report.regions,
                [](const RegionUse &use) { return use.unknownBytes > 0; });
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
