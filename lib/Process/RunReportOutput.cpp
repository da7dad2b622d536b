// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of mpgrun for people, and for programs as JSON.

#include "Process/RunReport.h"
#include "Process/Smaps.h"
#include "Support/Format.h"
#include "Support/JsonItem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

std::string mpg::describeEnding(int waitStatus) {
  if (WIFSIGNALED(waitStatus))
    return "ended by signal " + std::to_string(WTERMSIG(waitStatus));
  return "status " + std::to_string(WEXITSTATUS(waitStatus));
}

int mpg::endingNumber(int waitStatus) {
  return WIFSIGNALED(waitStatus) ? -WTERMSIG(waitStatus)
                                 : WEXITSTATUS(waitStatus);
}

/// Whether anything lies on another node than the first.
static bool hasSeveralNodes(const RunReport &report) {
  return any_of(report.regions,
                [](const RegionUse &use) { return use.nodes.size() > 1; });
}

/// "node 0: 64 MiB, node 1: 64 MiB".
static std::string describeNodes(const std::vector<uint64_t> &nodes) {
  std::string text;
  for (size_t node = 0; node < nodes.size(); ++node)
    if (nodes[node])
      text += (text.empty() ? "node " : ", node ") + std::to_string(node) +
              ": " + formatBytes(nodes[node]);
  return text;
}

std::string mpg::hugeColumns(uint64_t bytes, uint64_t hugeBytes,
                             uint64_t unknownBytes) {
  // Unknown pages are not "0 %".
  if (unknownBytes && !hugeBytes)
    return formatv("{0,16}       ", "not known");
  double percent = bytes ? 100.0 * double(hugeBytes) / double(bytes) : 0;
  return formatv("{0,16}{1,5} %", formatBytes(hugeBytes), unsigned(percent));
}

/// The columns of a row.
template <typename Use>
static void writeUse(raw_ostream &out, const std::string &name,
                     const Use &use) {
  out << "  " << left_justify(name, 13)
      << right_justify(formatBytes(use.bytes), 10)
      << hugeColumns(use.bytes, use.hugeBytes, use.unknownBytes);
}

/// Whether the report has a column for smaller transparent pages: only if the
/// machine has some.
static bool hasMiddle(const RunReport &report) {
  return any_of(report.regions, [](const RegionUse &use) {
    return use.middleBytes || !use.isMiddleKnown;
  });
}

/// Which large pages these are, and what waits in the pool beside them.
static std::string describePages(const RegionUse &use, bool isMeasured) {
  std::string text;
  if (use.hugeBytes)
    text = "  " + formatBytes(use.pageBytes) + " pages";
  uint64_t thpBytes = use.hugeBytes - std::min(use.poolBytes, use.hugeBytes);
  if (use.hugeBytes && isOfPageCache(use.region) && !use.isCopied)
    text += " of the page cache";
  else if (isMeasured && thpBytes && use.poolBytes)
    text += ", " + formatBytes(thpBytes) + " transparent";
  else if (isMeasured && use.hugeBytes)
    text += thpBytes ? ", transparent" : " of the pool";
  if (use.unknownBytes && use.hugeBytes)
    text += ", of " + formatBytes(use.unknownBytes) + " not known";
  if (use.setAsideBytes)
    text += (text.empty() ? "  " : ", ") + formatBytes(use.setAsideBytes) +
            " set aside";
  // Threads that ended before had memory, too, which was not counted.
  bool isOfThreads = use.region == RunRegion::threadStack ||
                     use.region == RunRegion::threadHeap;
  if (isMeasured && isOfThreads && use.peakBytes <= use.bytes)
    text += (text.empty() ? "  " : ", ") + std::string("at the end");
  return text;
}

static void writePeak(raw_ostream &out, StringRef when, uint64_t bytes,
                      uint64_t hugeBytes) {
  out << "    " << when << formatBytes(bytes) << ", " << formatBytes(hugeBytes)
      << " on large pages\n";
}

static void writeRow(raw_ostream &out, const RunReport &report,
                     const RegionUse &use) {
  writeUse(out, regionName(use.region).str(), use);
  if (hasMiddle(report))
    out << right_justify(
        use.isMiddleKnown ? formatBytes(use.middleBytes) : "not known", 12);
  out << describePages(use, report.measured);
  if (hasSeveralNodes(report) && !use.nodes.empty())
    out << "  " << describeNodes(use.nodes);
  out << "\n";
  if (use.peakBytes > use.bytes)
    writePeak(out, "at its peak ", use.peakBytes, use.peakHugeBytes);
  if (use.pagedInBytes)
    out << "    " << formatBytes(use.pagedInBytes)
        << " of it paged in by libmpg before main (prepage)\n";
  if (!use.reason.empty() &&
      (use.hugeBytes < use.bytes || use.peakHugeBytes < use.peakBytes))
    writeFilled(out, "    ", use.reason);
  if (std::optional<unsigned> node = findCrowdedNode(report, use))
    writeFilled(out, "    ",
                "nearly all of it is on node " + std::to_string(*node) +
                    ", and threads ran on others; if these use it: "
                    "initialise it in the threads that use it, with "
                    "--policy=demand:demand:demand, or numactl "
                    "--interleave=all");
}

/// "yes", or what is missing.
static std::string describeActing(const HintReport &report) {
  std::string missing = join(report.support.missing, "; ");
  switch (report.acts()) {
  case Ability::yes:
    return "this machine acts on them";
  case Ability::no:
    return missing.empty() ? "nothing acts on them" : missing;
  case Ability::unknown:
    return "not known whether this machine acts on them" +
           (missing.empty() ? "" : ": " + missing);
  }
  return missing;
}

static void writeHints(raw_ostream &out, const HintReport &report) {
  auto line = [&](const std::string &text) {
    writeFilled(out, "  ", "hints: " + text, 4);
  };
  for (const std::string &unread : report.notes.unreadHints)
    line(unread);
  if (!report.notes.hints)
    return;
  const mpg_note_hints &hints = *report.notes.hints;
  if (hints.taggedAccesses)
    line(describeTags(hints) + "; " + describeActing(report));
  for (auto [cache, ways] :
       {std::pair("L1", &hints.waysL1), std::pair("L2", &hints.waysL2)})
    if (std::string asked = describeWays(*ways); !asked.empty())
      line(std::string(cache) + " ways asked for: " + asked);
  if (hints.firstTouchSites)
    line(std::to_string(hints.firstTouchSites) + " first-touch sites");
}

static void writeProcess(raw_ostream &out, const ProcessUse &use) {
  writeUse(out, std::to_string(use.pid), use);
  out << "  " << shortLabel(use.command, 53)
      << (use.hasEnded ? "" : " (as last told)") << "\n";
  if (use.heapPeakBytes > use.bytes)
    writePeak(out, "its heap at the peak ", use.heapPeakBytes,
              use.heapPeakHugeBytes);
  if (!use.reason.empty())
    writeFilled(out, "    ", use.reason);
}

/// The largest processes, and the sum of the others, so that the rows add up.
static void writeProcesses(raw_ostream &out, const RunReport &report) {
  constexpr size_t max = 20;
  out << "  other processes with libmpg: "
      << report.processes.size() + report.processesLost << "\n";
  if (!report.processes.empty())
    out << "  process           in use  on large pages\n";
  ArrayRef<ProcessUse> all = report.processes;
  for (const ProcessUse &use : all.take_front(max))
    writeProcess(out, use);
  ProcessUse others;
  for (const ProcessUse &use : all.drop_front(std::min(max, all.size()))) {
    others.bytes += use.bytes;
    others.hugeBytes += use.hugeBytes;
    others.unknownBytes += use.unknownBytes;
  }
  if (all.size() > max) {
    writeUse(out, std::to_string(all.size() - max) + " more", others);
    out << "\n";
  }
  if (report.processesLost)
    out << "  not known: " << report.processesLost << ", that came later\n";
}

static bool hasUnknown(const RunReport &report) {
  auto isUnknown = [](const auto &use) { return use.unknownBytes > 0; };
  return any_of(report.regions, isUnknown) ||
         any_of(report.processes, isUnknown);
}

static void writeStalls(raw_ostream &out, const StallCounts &stalls) {
  auto line = [&](const std::optional<MemoryStalls> &counts, StringRef whose) {
    if (counts && !counts->isNone())
      writeFilled(out, "  ",
                  ("meanwhile, of " + whose + ": ").str() + counts->describe(),
                  4);
  };
  line(stalls.group, "the control group");
  line(stalls.machine, "the machine, whoever it was");
}

void mpg::writeRunText(raw_ostream &out, const RunReport &report) {
  out << "mpgrun: " << printable(report.program) << ": "
      << describeEnding(report.waitStatus) << ", mode " << report.mode << "\n";
  if (!report.hasState)
    out << "  " << describeAbsence(report) << "\n";
  else if (report.library.empty())
    out << "  with the libmpg that is part of the program, not mpgrun's\n";
  if (report.regions.empty() && !report.hasState)
    out << "  the memory itself could not be looked at\n";
  else if (!report.measured)
    out << "  as libmpg last told; the memory itself could not be looked at\n";
  else if (report.isTold)
    out << "  as libmpg read it at the end, for mpgrun may not trace here\n";
  if (!report.regions.empty())
    out << "  region            in use  on large pages"
        << (hasMiddle(report) ? "   16K to 1M" : "") << "\n";
  for (const RegionUse &use : report.regions)
    writeRow(out, report, use);
  if (hasUnknown(report))
    writeFilled(out, "  not known: ",
                report.measured
                    ? whyNotKnown
                    : "libmpg asked for transparent pages there; which "
                      "came, only the kernel can tell",
                4);
  if (report.peakHugetlbBytes)
    out << (report.isPeakCounted ? "  most taken from the pool at once: "
                                 : "  from the pool at the end: ")
        << formatBytes(report.peakHugetlbBytes) << "\n";
  writeStalls(out, report.stalls);
  if (report.hints)
    writeHints(out, *report.hints);
  if (report.hasProcesses)
    writeProcesses(out, report);
}

// The report of mpgrun for programs: schema mpgreport-1, in
// docs/schema/mpgreport-1.schema.json. All numbers are integers.

static JsonObject regionItem(const RegionUse &use) {
  bool isShort = use.hugeBytes < use.bytes || use.peakHugeBytes < use.peakBytes;
  return {
      {"region", regionName(use.region)},
      {"bytes", use.bytes},
      {"huge_bytes", use.hugeBytes},
      {"pool_bytes", use.poolBytes},
      {"unknown_bytes", use.unknownBytes},
      {"mthp_bytes", use.isMiddleKnown ? JsonItem(use.middleBytes) : nullptr},
      {"set_aside_bytes", use.setAsideBytes},
      {"paged_in_bytes", use.pagedInBytes},
      {"peak_bytes", use.peakBytes},
      {"peak_huge_bytes", use.peakHugeBytes},
      {"page_bytes", use.pageBytes},
      {"nodes", use.nodes},
      {"reason", isShort ? use.reason : ""}};
}

/// For each of the four sectors the ways that are asked for, or null.
static JsonArray waysItem(const uint8_t (&ways)[4]) {
  return jsonList(ways, [](uint8_t count) {
    return count == MPG_WAYS_NOT_ASKED ? JsonItem() : JsonItem(count);
  });
}

static JsonItem hintsItem(const std::optional<HintReport> &report) {
  if (!report)
    return nullptr;
  const mpg_note_hints hints = report->notes.hints.value_or(emptyHints());
  return JsonObject{{"modules", report->notes.modules.size()},
                    {"llvm_major", hints.llvmMajor},
                    {"tagged_accesses", hints.taggedAccesses},
                    {"first_touch_sites", hints.firstTouchSites},
                    {"tag_bytes", getTagBytes(hints)},
                    {"sectors", listBits(hints.sectorsMask)},
                    {"injection_entries", listBits(hints.injectionMask)},
                    {"ways_l1", waysItem(hints.waysL1)},
                    {"ways_l2", waysItem(hints.waysL2)},
                    {"acts", abilityName(report->acts())},
                    {"missing", report->support.missing},
                    {"warnings", report->notes.warnings}};
}

static JsonObject processItem(const ProcessUse &use) {
  return {{"pid", use.pid},
          {"parent", use.parent},
          {"command", use.command},
          {"mode", use.mode},
          {"source", use.hasEnded ? "smaps" : "libmpg"},
          {"bytes", use.bytes},
          {"huge_bytes", use.hugeBytes},
          {"pool_bytes", use.poolBytes},
          {"unknown_bytes", use.unknownBytes},
          {"heap_peak_bytes", use.heapPeakBytes},
          {"heap_peak_huge_bytes", use.heapPeakHugeBytes},
          {"reason", use.reason}};
}

/// Absent where it is no number of an MPI rank.
static JsonItem rankItem(StringRef rank) {
  int32_t number;
  bool isNumber = !rank.getAsInteger(10, number) && number >= 0;
  return isNumber ? JsonItem(number) : JsonItem::absent();
}

void mpg::addPlace(JsonObject &document, const RankPlace &place) {
  JsonObject items = {{"version", MPG_VERSION},
                      {"host", textOrAbsent(place.host)},
                      {"rank", rankItem(place.rank)},
                      {"ranks", orAbsent(place.ranks)}};
  document.insert(document.begin() + 1, items.begin(), items.end());
}

JsonItem mpg::stallsItem(const std::optional<MemoryStalls> &stalls) {
  return stalls ? JsonItem(jsonObject(stalls->counts())) : JsonItem();
}

void mpg::writeRunJson(raw_ostream &out, const RunReport &report) {
  auto message = [](auto &one) {
    return JsonObject{{"code", one.first}, {"text", one.second}};
  };
  JsonObject document = {{"schema", "mpgreport-1"},
                         {"program", report.program},
                         {"status", endingNumber(report.waitStatus)},
                         {"mode", report.mode},
                         {"source", report.measured ? "smaps" : "libmpg"},
                         {"libmpg", report.hasState},
                         {"libmpg_file", textOrNull(report.library)},
                         {"hugetlb_fallback", report.fallback},
                         {"peak_hugetlb_bytes", report.peakHugetlbBytes},
                         {"regions", jsonList(report.regions, regionItem)},
                         {"hints", hintsItem(report.hints)},
                         {"messages", jsonList(report.messages, message)},
                         {"machine_stalls", stallsItem(report.stalls.machine)},
                         {"group_stalls", stallsItem(report.stalls.group)}};
  addPlace(document, report.place);
  if (report.hasProcesses) {
    document.push_back({"processes", jsonList(report.processes, processItem)});
    document.push_back({"processes_lost", report.processesLost});
  }
  writeJson(out, document, /*indent=*/2);
  out << "\n";
}
