// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CompareRun.h.

#include "Support/Format.h"
#include "mpgrun/Compare/CompareRun.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cstring>
#include <string>

using namespace llvm;
using namespace mpg;

static constexpr uint64_t largePage = 2 << 20;

/// libmpg's reason for the region that misses most. Memory below a large page
/// tells nothing about the rest of the program.
static std::string worstReason(const RunReport &report) {
  std::string reason;
  uint64_t max = 0, all = 0;
  for (const RegionUse &use : report.regions) {
    uint64_t missing =
        std::max(use.bytes - use.hugeBytes, use.peakBytes - use.peakHugeBytes);
    all += std::max(use.bytes, use.peakBytes);
    if (!use.reason.empty() && missing >= largePage && missing > max) {
      max = missing;
      reason = use.reason;
    }
  }
  if (reason.empty() && report.fallback && !report.messages.empty())
    return report.messages.front().second;
  if (reason.empty() && all && all < largePage)
    return "its memory is smaller than a large page";
  return reason;
}

/// The reason with a number of pages that is enough for all of the program:
/// libmpg asks for those that its first refused request needed.
static std::string withEnoughPages(std::string reason,
                                   const RunReport &report) {
  StringRef fix = "; fix: echo ";
  size_t at = reason.find(fix.str());
  if (at == std::string::npos || !StringRef(reason).contains("/nr_hugepages"))
    return reason;
  at += fix.size();
  uint64_t asked = 0, missing = 0;
  StringRef rest = StringRef(reason).drop_front(at);
  if (rest.consumeInteger(10, asked))
    return reason;
  for (const RegionUse &use : report.regions) {
    bool isOurs = use.region <= RunRegion::threadHeap;
    uint64_t bytes = std::max(use.bytes, use.peakBytes);
    if (isOurs && bytes >= largePage)
      missing += 1 + (bytes - std::min(bytes, use.poolBytes)) / largePage;
  }
  return StringRef(reason).take_front(at).str() +
         std::to_string(std::max(asked, missing)) + rest.str();
}

void mpg::fillMemory(ModeMemory &memory, const RunReport &report) {
  memory.measured = report.measured;
  memory.hasState = report.hasState;
  memory.fallback = report.fallback;
  memory.peakHugetlbBytes = report.peakHugetlbBytes;
  for (const RegionUse &use : report.regions) {
    memory.bytes += use.bytes;
    memory.hugeBytes += use.hugeBytes;
    bool hasPeak = use.peakBytes > use.bytes;
    memory.peakBytes += hasPeak ? use.peakBytes : use.bytes;
    memory.peakHugeBytes += hasPeak ? use.peakHugeBytes : use.hugeBytes;
  }
  memory.reason = withEnoughPages(worstReason(report), report);
}

uint64_t mpg::readPeakRss(pid_t pid) {
  auto file =
      MemoryBuffer::getFileAsStream("/proc/" + std::to_string(pid) + "/status");
  if (!file)
    return 0;
  StringRef text = (*file)->getBuffer();
  size_t at = text.find("\nVmHWM:");
  uint64_t kilobytes = 0;
  if (at == StringRef::npos || text.substr(at + strlen("\nVmHWM:"))
                                   .ltrim()
                                   .consumeInteger(10, kilobytes))
    return 0;
  return kilobytes << 10;
}

void mpg::noteCodePages(Comparison &comparison, const RunReport &report,
                        const ModeResult &mode) {
  for (const RegionUse &use : report.regions)
    if (use.region == RunRegion::text && use.hugeBytes && !use.isCopied)
      comparison.notes.push_back(
          formatBytes(use.hugeBytes) + " of code were on large pages in mode " +
          mode.name + ", too: another process uses the file");
}
