// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of mpgrun for people.

#include "Run/RunReport.h"
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

static std::string describeEnd(int waitStatus) {
  if (WIFSIGNALED(waitStatus))
    return "ended by signal " + std::to_string(WTERMSIG(waitStatus));
  return "status " + std::to_string(WEXITSTATUS(waitStatus));
}

/// "node 0: 64 MiB, node 1: 64 MiB"; nothing on a machine with one node.
static std::string describeNodes(const std::vector<uint64_t> &nodes) {
  std::string text;
  if (nodes.size() < 2)
    return text;
  for (size_t node = 0; node < nodes.size(); ++node)
    if (nodes[node])
      text += (text.empty() ? "node " : ", node ") + std::to_string(node) +
              ": " + formatBytes(nodes[node]);
  return text;
}

static unsigned percent(const RegionUse &use) {
  // Never 100 while a byte is missing.
  return use.bytes ? unsigned(100.0 * double(use.hugeBytes) / double(use.bytes))
                   : 0;
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
  if (use.setAsideBytes)
    text += (text.empty() ? "  " : ", ") + formatBytes(use.setAsideBytes) +
            " set aside";
  return text;
}

static void writeRow(raw_ostream &out, const RegionUse &use, bool isMeasured) {
  out << "  " << left_justify(regionName(use.region), 13)
      << right_justify(formatBytes(use.bytes), 10)
      << right_justify(formatBytes(use.hugeBytes), 16)
      << format("%5u %%", percent(use));
  out << describePages(use, isMeasured);
  std::string nodes = describeNodes(use.nodes);
  if (!nodes.empty())
    out << "  " << nodes;
  out << "\n";
  bool wasMore = use.peakBytes > use.bytes;
  if (wasMore)
    out << "    at its peak " << formatBytes(use.peakBytes) << ", "
        << formatBytes(use.peakHugeBytes) << " on large pages\n";
  if (!use.reason.empty() &&
      (use.hugeBytes < use.bytes || use.peakHugeBytes < use.peakBytes))
    out << "    " << fillText(use.reason, 4) << "\n";
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

void mpg::writeRunText(raw_ostream &out, const RunReport &report) {
  out << "mpgrun: " << printable(report.program) << ": "
      << describeEnd(report.waitStatus) << ", mode " << report.mode << "\n";
  if (!report.hasState)
    out << "  libmpg was not at work in the program\n";
  if (!report.measured)
    out << "  as libmpg last told; the memory itself could not be looked at\n";
  out << "  region            in use  on large pages\n";
  for (const RegionUse &use : report.regions)
    writeRow(out, use, report.measured);
  if (report.peakHugetlbBytes)
    out << (report.isPeakCounted ? "  most taken from the pool at once: "
                                 : "  from the pool at the end: ")
        << formatBytes(report.peakHugetlbBytes) << "\n";
  if (report.hints)
    writeHints(out, *report.hints);
}
