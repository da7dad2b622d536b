// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the counts come to: whether larger pages can be worth something, and
// what was not seen.

#include "SimReport.h"
#include "Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cstring>
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

/// Below this share of the time for memory traffic a saving is none.
static constexpr double leastShare = 0.02;
/// All page walks together below this are no gain to speak of.
static constexpr double leastSeconds = 1e-3;
/// Fewer page walks than one in so many accesses are none.
static constexpr uint64_t accessesPerWalk = 100000;

static uint64_t walksOf(const SimPageCounts &page) {
  return page.tlbMisses.empty() ? 0 : page.tlbMisses.back();
}

SimTime mpg::walkTime(const SimReport &report, const SimPageCounts &page) {
  const sim::PageWalk &walk = report.machine.walk;
  return {double(walksOf(page)) * walk.minNs * 1e-9,
          double(walksOf(page)) * walk.maxNs * 1e-9};
}

double mpg::trafficTime(const SimReport &report, const SimPageCounts &page) {
  const sim::BandwidthRoofs &roofs = report.machine.roofs;
  double line = report.machine.lineBytes;
  auto timeOf = [&](const SimInterval &lines, double gbps) {
    return gbps > 0 ? double(lines.least) * line / (gbps * 1e9) : 0;
  };
  return std::max(timeOf(page.linesRead, roofs.memoryReadGbps),
                  timeOf(page.linesWritten, roofs.memoryWriteGbps));
}

static std::string inSeconds(double value) {
  if (value >= 1)
    return formatv("{0:f2} s", value).str();
  if (value >= 1e-3)
    return formatv("{0:f1} ms", value * 1e3).str();
  return formatv("{0:f1} us", value * 1e6).str();
}

static std::string gainOf(const SimReport &report, const SimPageCounts &small,
                          const SimPageCounts &large) {
  uint64_t saved = walksOf(small) - walksOf(large);
  SimTime before = walkTime(report, small), after = walkTime(report, large);
  double traffic = trafficTime(report, small);
  std::string pages = pageName(large.pageBytes) + " instead of " +
                      pageName(small.pageBytes) + " pages";
  if (before.most == 0)
    return formatv("{0} save {1} of {2} page walks; what one costs on {3} is "
                   "not known",
                   pages, saved, walksOf(small), report.machine.name);
  std::string band = inSeconds(before.least - after.least) + " to " +
                     inSeconds(before.most - after.most);
  if (before.most < leastSeconds)
    return formatv(
        "no gain expected from larger pages: all page walks take {0} "
        "at most",
        inSeconds(before.most));
  if (before.most - after.most < leastShare * traffic)
    return formatv("no gain expected: bound by memory bandwidth, {0} at least; "
                   "{1} save {2} of page walks",
                   inSeconds(traffic), pages, band);
  return formatv("{0} save {1} of {2} page walks, {3}; the traffic to memory "
                 "takes at least {4}",
                 pages, saved, walksOf(small), band, inSeconds(traffic));
}

std::string mpg::verdictOf(const SimReport &report) {
  if (!report.all.accesses)
    return "nothing was accessed by code compiled with --mpg-sim";
  const SimPageCounts &small = report.all.pages.front();
  uint64_t least = walksOf(small);
  for (const SimPageCounts &page : report.all.pages)
    least = std::min(least, walksOf(page));
  // The smallest pages that save nearly as much as any.
  const SimPageCounts *best = &small;
  for (const SimPageCounts &page : report.all.pages)
    if (walksOf(*best) - least > walksOf(small) / 100)
      best = &page;
  if ((walksOf(small) - walksOf(*best)) * accessesPerWalk < report.all.accesses)
    return formatv(
        "no gain expected from larger pages: {0} page walks with {1} "
        "pages, {2} with {3}, for {4} accesses",
        walksOf(small), pageName(small.pageBytes), walksOf(*best),
        pageName(best->pageBytes), report.all.accesses);
  return gainOf(report, small, *best);
}

std::string mpg::describeEnding(const SimEnding &ending) {
  if (!WIFSIGNALED(ending.waitStatus))
    return "ended with status " +
           std::to_string(WEXITSTATUS(ending.waitStatus));
  int number = WTERMSIG(ending.waitStatus);
  return "was ended by signal " + std::to_string(number) + " (" +
         strsignal(number) + "): results so far";
}

static std::string plural(uint64_t count, const char *one, const char *many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::vector<std::string> mpg::gapsOf(const SimReport &report) {
  std::vector<std::string> gaps;
  const SimEnding &ending = report.ending;
  if (ending.otherThreads)
    gaps.push_back(plural(ending.otherThreads, "thread", "threads") +
                   " beside the first, about " +
                   std::to_string(ending.lostRecords) + " records");
  if (ending.otherProcesses)
    gaps.push_back(plural(ending.otherProcesses, "process", "processes") +
                   " beside the first, forked or started later");
  if (report.damaged)
    gaps.push_back(plural(report.damaged, "record", "records") +
                   " that could not be read");
  static constexpr size_t most = 6;
  for (size_t at = 0; at < std::min(most, report.notSeen.size()); ++at)
    gaps.push_back(plural(report.notSeen[at].second, "call to ", "calls to ") +
                   printable(report.notSeen[at].first));
  if (report.notSeen.size() > most)
    gaps.push_back(plural(report.notSeen.size() - most, "other function",
                          "other functions") +
                   " (--json has all)");
  return gaps;
}
