// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of mpgrun for people, and for programs as JSON.

#include "Process/RunReport.h"
#include "Process/Smaps.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
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

/// Never 100 while a byte is missing.
template <typename Use> static unsigned percent(const Use &use) {
  return use.bytes ? unsigned(100.0 * double(use.hugeBytes) / double(use.bytes))
                   : 0;
}

/// The columns of a row.
template <typename Use>
static void writeUse(raw_ostream &out, const std::string &name,
                     const Use &use) {
  out << "  " << left_justify(name, 13)
      << right_justify(formatBytes(use.bytes), 10);
  // Unknown pages are not "0 %".
  if (use.unknownBytes && !use.hugeBytes)
    out << right_justify("not known", 16) << "       ";
  else
    out << right_justify(formatBytes(use.hugeBytes), 16)
        << format("%5u %%", percent(use));
}

/// Which large pages these are, and what waits in the pool beside them.
static std::string describePages(const RegionUse &use, bool isMeasured) {
  std::string text;
  if (use.hugeBytes)
    text = "  " + formatBytes(use.pageBytes) + " pages";
  uint64_t thpBytes = use.hugeBytes - std::min(use.poolBytes, use.hugeBytes);
  if (isMeasured && thpBytes && use.poolBytes)
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
    out << "    " << fillText(use.reason, 4) << "\n";
  if (std::optional<unsigned> node = findCrowdedNode(report, use))
    out << "    "
        << fillText("nearly all of it is on node " + std::to_string(*node) +
                        ", and threads ran on others; if these use it: "
                        "initialise it in the threads that use it, with "
                        "--policy=demand:demand:demand, or numactl "
                        "--interleave=all",
                    4)
        << "\n";
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
    out << "  " << fillText("hints: " + text, 4) << "\n";
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
  constexpr size_t shownBytes = 50; // of a line
  StringRef command = use.command;
  writeUse(out, std::to_string(use.pid), use);
  out << "  " << command.take_front(shownBytes)
      << (command.size() > shownBytes ? "..." : "")
      << (use.hasEnded ? "" : " (as last told)") << "\n";
  if (use.heapPeakBytes > use.bytes)
    writePeak(out, "its heap at the peak ", use.heapPeakBytes,
              use.heapPeakHugeBytes);
  if (!use.reason.empty())
    out << "    " << fillText(use.reason, 4) << "\n";
}

/// Those that had most, and the sum of the others: so the rows add up.
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
    out << "  region            in use  on large pages\n";
  for (const RegionUse &use : report.regions)
    writeRow(out, report, use);
  if (hasUnknown(report))
    out << "  not known: "
        << fillText(report.measured
                        ? whyNotKnown
                        : "libmpg asked for transparent pages there; which "
                          "came, only the kernel can tell",
                    4)
        << "\n";
  if (report.peakHugetlbBytes)
    out << (report.isPeakCounted ? "  most taken from the pool at once: "
                                 : "  from the pool at the end: ")
        << formatBytes(report.peakHugetlbBytes) << "\n";
  if (report.hints)
    writeHints(out, *report.hints);
  if (report.hasProcesses)
    writeProcesses(out, report);
}

// The report of mpgrun for programs: schema mpgreport-1, in
// docs/schema/mpgreport-1.schema.json. All numbers are integers.

static void writeJsonRegion(json::OStream &json, const RegionUse &use) {
  json.object([&] {
    json.attribute("region", regionName(use.region));
    json.attribute("bytes", int64_t(use.bytes));
    json.attribute("huge_bytes", int64_t(use.hugeBytes));
    json.attribute("pool_bytes", int64_t(use.poolBytes));
    json.attribute("unknown_bytes", int64_t(use.unknownBytes));
    json.attribute("set_aside_bytes", int64_t(use.setAsideBytes));
    json.attribute("paged_in_bytes", int64_t(use.pagedInBytes));
    json.attribute("peak_bytes", int64_t(use.peakBytes));
    json.attribute("peak_huge_bytes", int64_t(use.peakHugeBytes));
    json.attribute("page_bytes", int64_t(use.pageBytes));
    json.attributeArray("nodes", [&] {
      for (uint64_t bytes : use.nodes)
        json.value(int64_t(bytes));
    });
    json.attribute("reason", use.hugeBytes < use.bytes ||
                                     use.peakHugeBytes < use.peakBytes
                                 ? use.reason
                                 : "");
  });
}

static void writeNumbers(json::OStream &json, StringRef key,
                         const std::vector<unsigned> &numbers) {
  json.attributeArray(key, [&] {
    for (unsigned number : numbers)
      json.value(number);
  });
}

/// For each of the four sectors the ways that are asked for, or null.
static void writeWays(json::OStream &json, StringRef key,
                      const uint8_t (&ways)[4]) {
  json.attributeArray(key, [&] {
    for (uint8_t count : ways)
      json.value(count == MPG_WAYS_NOT_ASKED ? json::Value(nullptr)
                                             : json::Value(unsigned(count)));
  });
}

static void writeHints(json::OStream &json, const HintReport &report) {
  const mpg_note_hints hints = report.notes.hints.value_or(emptyHints());
  json.attributeObject("hints", [&] {
    json.attribute("modules", report.notes.modules.size());
    json.attribute("llvm_major", hints.llvmMajor);
    json.attribute("tagged_accesses", hints.taggedAccesses);
    json.attribute("first_touch_sites", hints.firstTouchSites);
    writeNumbers(json, "tag_bytes", getTagBytes(hints));
    writeNumbers(json, "sectors", listBits(hints.sectorsMask));
    writeNumbers(json, "injection_entries", listBits(hints.injectionMask));
    writeWays(json, "ways_l1", hints.waysL1);
    writeWays(json, "ways_l2", hints.waysL2);
    json.attribute("acts", abilityName(report.acts()));
    json.attributeArray("missing", [&] {
      for (const std::string &what : report.support.missing)
        json.value(json::fixUTF8(what));
    });
    json.attributeArray("warnings", [&] {
      for (const std::string &warning : report.notes.warnings)
        json.value(warning);
    });
  });
}

static void writeProcessUse(json::OStream &json, const ProcessUse &use) {
  json.object([&] {
    json.attribute("pid", use.pid);
    json.attribute("parent", use.parent);
    json.attribute("command", use.command);
    json.attribute("mode", use.mode);
    json.attribute("source", use.hasEnded ? "smaps" : "libmpg");
    json.attribute("bytes", int64_t(use.bytes));
    json.attribute("huge_bytes", int64_t(use.hugeBytes));
    json.attribute("pool_bytes", int64_t(use.poolBytes));
    json.attribute("unknown_bytes", int64_t(use.unknownBytes));
    json.attribute("heap_peak_bytes", int64_t(use.heapPeakBytes));
    json.attribute("heap_peak_huge_bytes", int64_t(use.heapPeakHugeBytes));
    json.attribute("reason", use.reason);
  });
}

void mpg::writeRunJson(raw_ostream &out, const RunReport &report) {
  json::OStream json(out, 2);
  json.object([&] {
    json.attribute("schema", "mpgreport-1");
    json.attribute("program", json::fixUTF8(report.program));
    json.attribute("status", endingNumber(report.waitStatus));
    json.attribute("mode", report.mode);
    json.attribute("source", report.measured ? "smaps" : "libmpg");
    json.attribute("libmpg", report.hasState);
    json.attribute("libmpg_file", report.library.empty()
                                      ? json::Value(nullptr)
                                      : json::Value(report.library));
    json.attribute("hugetlb_fallback", report.fallback);
    json.attribute("peak_hugetlb_bytes", int64_t(report.peakHugetlbBytes));
    json.attributeArray("regions", [&] {
      for (const RegionUse &use : report.regions)
        writeJsonRegion(json, use);
    });
    if (report.hints)
      writeHints(json, *report.hints);
    else
      json.attribute("hints", nullptr);
    json.attributeArray("messages", [&] {
      for (const auto &message : report.messages)
        json.object([&] {
          json.attribute("code", int64_t(message.first));
          json.attribute("text", message.second);
        });
    });
    if (!report.hasProcesses)
      return;
    json.attributeArray("processes", [&] {
      for (const ProcessUse &use : report.processes)
        writeProcessUse(json, use);
    });
    json.attribute("processes_lost", int64_t(report.processesLost));
  });
  out << "\n";
}
