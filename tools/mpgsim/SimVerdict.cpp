// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conclusions from the counts: whether larger pages can be worth something,
// which parts were not seen, and which arrays belong into sector 1.

#include "SimReport.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

/// Below this share of the time for memory traffic a saving does not count.
static constexpr double minShare = 0.02;
/// All page walks together below this are not worth mentioning.
static constexpr double minSeconds = 1e-3;
/// The same where the cost of a walk is not known.
static constexpr uint64_t minWalks = 1000;
/// Fewer page walks than one in so many accesses do not count.
static constexpr uint64_t accessesPerWalk = 100000;

static uint64_t countWalks(const SimPageCounts &page) {
  return page.tlbMisses.empty() ? 0 : page.tlbMisses.back();
}

static const SimBusiest &findBusiest(const SimReport &report,
                                     const SimPageCounts &page) {
  return report.busiest[size_t(&page - report.all.pages.data())];
}

SimTime mpg::walkTime(const SimReport &report, const SimPageCounts &page) {
  const sim::PageWalk &walk = report.machine.walk;
  double walks = double(findBusiest(report, page).walks);
  return {walks * walk.minNs * 1e-9, walks * walk.maxNs * 1e-9};
}

double mpg::trafficTime(const SimReport &report, const SimPageCounts &page) {
  const sim::BandwidthRoofs &roofs = report.machine.roofs;
  double line = report.machine.lineBytes;
  auto computeTime = [&](uint64_t lines, double gbps) {
    return gbps > 0 ? double(lines) * line / (gbps * 1e9) : 0;
  };
  const SimBusiest &max = findBusiest(report, page);
  return std::max(computeTime(max.linesRead, roofs.memoryReadGbps),
                  computeTime(max.linesWritten, roofs.memoryWriteGbps));
}

static std::string inSeconds(double value) {
  if (value >= 1)
    return formatv("{0:f2} s", value);
  if (value >= 1e-3)
    return formatv("{0:f1} ms", value * 1e3);
  return formatv("{0:f1} us", value * 1e6);
}

/// A page that the kernel gives without being asked: 4, 16 or 64 KiB. Larger
/// ones are large pages.
static constexpr uint64_t largestBasePage = uint64_t(64) << 10;

/// The smallest large pages that save nearly as much as any; null: there are
/// none.
static const SimPageCounts *bestLarge(const SimReport &report,
                                      const SimPageCounts &small) {
  const SimPageCounts *best = nullptr;
  for (const SimPageCounts &page : report.all.pages)
    if (page.pageBytes > largestBasePage &&
        // Within 2 % of the walks there were: the smaller pages are easier to
        // get.
        (!best ||
         countWalks(*best) > countWalks(page) + countWalks(small) / 50))
      best = &page;
  return best;
}

static SimGain gainFrom(const SimReport &report, const SimPageCounts &small) {
  SimGain gain;
  gain.small = gain.large = &small;
  const SimPageCounts *large = bestLarge(report, small);
  if (!large || large == &small)
    return gain;
  gain.large = large;
  gain.kind = SimGain::none;
  if (countWalks(small) <= countWalks(*large))
    return gain;
  // Three reasons to call it none: too few walks to count on, too few among so
  // many accesses, and too little time, where the cost of a walk is known.
  SimTime before = walkTime(report, small), after = walkTime(report, *large);
  gain.saved = {before.min - after.min, before.max - after.max};
  if (countWalks(small) < minWalks ||
      (countWalks(small) - countWalks(*large)) * accessesPerWalk <
          report.all.accesses ||
      (before.max > 0 && before.max < minSeconds))
    return gain;
  // Walks go on beside transfers: where memory is what the program waits for,
  // they cost nothing on top.
  bool isHidden =
      before.max > 0 && gain.saved.max < minShare * trafficTime(report, small);
  gain.kind = isHidden ? SimGain::bandwidth : SimGain::walks;
  return gain;
}

std::vector<SimGain> mpg::findGains(const SimReport &report) {
  std::vector<SimGain> gains;
  for (const SimPageCounts &page : report.all.pages)
    if (gains.empty() || page.pageBytes <= largestBasePage)
      gains.push_back(gainFrom(report, page));
  return gains;
}

const char *mpg::gainKind(const SimGain &gain) {
  static constexpr const char *names[] = {"walks", "bandwidth", "none", "none"};
  return names[gain.kind];
}

static std::string describeGain(const SimReport &report, const SimGain &gain) {
  std::string saves = formatv("{0} pages save {1} of {2} page walks",
                              formatBytes(gain.large->pageBytes),
                              countWalks(*gain.small) - countWalks(*gain.large),
                              countWalks(*gain.small));
  std::string band =
      inSeconds(gain.saved.min) + " to " + inSeconds(gain.saved.max);
  std::string traffic = inSeconds(trafficTime(report, *gain.small));
  switch (gain.kind) {
  case SimGain::noOther:
    return "no larger pages were modelled, so no gain can be stated";
  case SimGain::none:
    return formatv("no gain expected from larger pages: {0} page walks with "
                   "{1}, {2} with {3}",
                   countWalks(*gain.small), formatBytes(gain.small->pageBytes),
                   countWalks(*gain.large), formatBytes(gain.large->pageBytes));
  case SimGain::bandwidth:
    return formatv("no gain expected: bound by memory bandwidth, {0} at least; "
                   "{1}, {2}",
                   traffic, saves, band);
  case SimGain::walks:
    break;
  }
  if (gain.saved.max == 0)
    return saves + "; what one costs on " + report.machine.name +
           " is not known";
  return formatv("{0}, {1}; the traffic to memory takes at least {2}", saves,
                 band, traffic);
}

/// The smallest share of all accesses from which something can be concluded.
static constexpr double minSeen = 0.9;

static double seenShare(const SimReport &report) {
  double all = double(report.all.accesses) + double(report.ending.lostAccesses);
  return all > 0 ? double(report.all.accesses) / all : 1;
}

/// "" if enough was seen for a verdict.
static std::string tooFewSeen(const SimReport &report) {
  if (seenShare(report) >= minSeen)
    return "";
  return formatv("no verdict: {0} % of the accesses were seen, fewer than {1} "
                 "%; the others are those of other threads",
                 unsigned(100 * seenShare(report)), unsigned(100 * minSeen));
}

std::string mpg::describeVerdict(const SimReport &report) {
  if (std::string few = tooFewSeen(report); !few.empty())
    return few;
  if (!report.all.accesses && report.sampled.what.by != MPG_SIM_ALL)
    return "nothing was accessed in the sample by code compiled with --mpg-sim";
  if (!report.all.accesses)
    return "nothing was accessed by code compiled with --mpg-sim";
  std::vector<SimGain> gains = findGains(report);
  std::string text;
  for (const SimGain &gain : gains) {
    // Larger base pages save nothing either, then.
    if (gain.kind == SimGain::none && text.empty())
      return describeGain(report, gain);
    if (!text.empty())
      text += ". ";
    if (gains.size() > 1)
      text += "With base pages of " + formatBytes(gain.small->pageBytes) + ": ";
    text += describeGain(report, gain);
  }
  return text;
}

/// Sectors are for programs on large pages: the smallest of them. Base pages of
/// random frames leave no set of the cache undisturbed.
const SimPageCounts &mpg::advisedPage(const std::vector<SimPageCounts> &pages) {
  for (const SimPageCounts &page : pages)
    if (page.pageBytes > largestBasePage)
      return page;
  return pages.back();
}

/// Lines to and from memory, at least.
static uint64_t computeTraffic(const SimQuota &quota) {
  const SimPageCounts &page = advisedPage(quota.pages);
  return page.linesRead.min + page.linesWritten.min;
}

const SimQuota *mpg::bestQuota(const SimReport &report) {
  if (report.quotas.empty() || !tooFewSeen(report).empty())
    return nullptr;
  const SimQuota *best = &report.quotas.front();
  for (const SimQuota &quota : report.quotas)
    if (computeTraffic(quota) < computeTraffic(*best))
      best = &quota;
  double before = double(computeTraffic(report.quotas.front()));
  bool isWorth = before - double(computeTraffic(*best)) > minShare * before;
  return isWorth ? best : nullptr;
}

std::string mpg::describeQuotaVerdict(const SimReport &report) {
  if (report.quotas.empty())
    return "";
  if (std::string few = tooFewSeen(report); !few.empty())
    return few;
  const std::string &cache = report.machine.caches[report.divided.level].name;
  std::string pages = formatBytes(advisedPage(report.all.pages).pageBytes);
  const SimQuota *best = bestQuota(report);
  if (!best)
    return "no gain expected from dividing " + cache +
           ": no quota saves 2 % of the traffic to memory with " + pages +
           " pages";
  uint64_t before = computeTraffic(report.quotas.front());
  return formatv("{0} of {1} ways of {2} for sector 1 save {3:f1} % of the "
                 "traffic to memory with {4} pages",
                 best->ways, report.divided.allWays, cache,
                 100 * (1 - double(computeTraffic(*best)) / double(before)),
                 pages);
}

std::string mpg::shownFunction(StringRef name) {
  std::string mangled = name.str();
  ItaniumPartialDemangler parsed;
  if (parsed.partialDemangle(mangled.c_str()) || !parsed.isFunction())
    return mangled;
  // Allocates the text; null for names that it cannot print.
  if (char *text = parsed.getFunctionName(nullptr, nullptr)) {
    mangled = text;
    free(text);
  }
  return mangled;
}

std::string mpg::describeEnding(const SimEnding &ending) {
  if (!WIFSIGNALED(ending.waitStatus))
    return "ended with status " +
           std::to_string(WEXITSTATUS(ending.waitStatus));
  int number = WTERMSIG(ending.waitStatus);
  return "was ended by signal " + std::to_string(number) + " (" +
         strsignal(number) + ")";
}

std::string mpg::describeCores(const SimReport &report) {
  if (report.cores == 1)
    return "One core";
  return countWord(report.cores, "core") + " in " +
         countWord(report.groups, "core group");
}

std::string mpg::describeBand(const SimReport &report, StringRef counter) {
  for (const sim::CounterBand &band : report.machine.bands)
    if (band.counter == counter)
      return formatv("{0:f2} to {1:f2}", band.min, band.max);
  return "-";
}

std::string mpg::describeBands(const SimReport &report) {
  std::string machine = printable(report.machine.name);
  return report.machine.bands.empty()
             ? "no counters of " + machine + " were compared with the model"
             : "modelled counts divided by published ones of " + machine;
}

std::string mpg::describePlacementVerdict(const SimReport &report) {
  const SimPageCounts &page = advisedPage(report.all.pages);
  if (report.groups < 2 || page.placements.empty() ||
      !tooFewSeen(report).empty())
    return "";
  std::string text;
  for (size_t at = 0; at < page.placements.size(); ++at)
    text += formatv("{0}{1:f1} % {2}under {3}", at ? ", " : "",
                    page.placements[at].percent(),
                    at ? "" : "of the traffic to memory is local ",
                    placementNames[at]);
  return text + " (" + formatBytes(page.pageBytes) + " pages)";
}

std::string mpg::describeSparseUse(const SimReport &report,
                                   const SimPart &array) {
  // From 8 MiB a process on: below that a large page more or less does not
  // matter.
  uint64_t processes = std::max<uint64_t>(report.ranks.size(), 1);
  uint64_t touched = array.use.of2M << 21;
  uint64_t used4K = array.use.of4K << 12, used64K = array.use.of64K << 16;
  if (touched < processes * (uint64_t(8) << 20) || used4K > touched / 2)
    return "";
  return formatv("of {0} that it touches in 2 MiB pages {1:f1} % are used in 4 "
                 "KiB pages, {2:f1} % in 64 KiB pages",
                 formatBytes(touched), 100 * double(used4K) / double(touched),
                 100 * double(used64K) / double(touched));
}

std::string mpg::describeMissingPart(const SimReport &report) {
  const SimEnding &ending = report.ending;
  if (!ending.otherThreads)
    return "";
  unsigned cores =
      report.machine.groups.count * report.machine.groups.coresEach;
  std::string others =
      formatv("{0} made {1} accesses that are not in these counts, which have "
              "{2} % of all",
              countWord(ending.otherThreads, "other thread"),
              ending.lostAccesses, unsigned(100 * seenShare(report)));
  if (report.ranks.size() > 1)
    return others + "; the report of each rank says why";
  if (report.cores >= cores)
    return formatv("{0} has {1}, fewer than there were threads: {2}. Run it "
                   "with at most {3} (OMP_NUM_THREADS={3})",
                   report.machine.name, countWord(cores, "core"), others,
                   cores);
  return others + ": only threads of pthread_create in a program that is not "
                  "linked with -static are seen. Link it so, or run it with "
                  "one thread (OMP_NUM_THREADS=1)";
}

static bool hasNoLines(const SimReport &report) {
  return !report.loops.empty() &&
         none_of(report.loops,
                 [](const SimPart &loop) { return loop.line != 0; });
}

std::vector<std::string> mpg::findGaps(const SimReport &report) {
  std::vector<std::string> gaps;
  if (hasNoLines(report))
    gaps.push_back("lines, as there is no debug information (compile with -g)");
  const SimEnding &ending = report.ending;
  if (ending.otherProcesses)
    gaps.push_back(countWord(ending.otherProcesses, "process") +
                   " beside the first, forked or started later");
  if (ending.skips)
    gaps.push_back("why threads waited, " + countWord(ending.skips, "time") +
                   ": what they do to shared caches there depends on this "
                   "machine, too");
  if (report.damaged)
    gaps.push_back(countWord(report.damaged, "record") +
                   " that could not be read");
  static constexpr size_t max = 6;
  for (size_t at = 0; at < std::min(max, report.notSeen.size()); ++at)
    gaps.push_back(countWord(report.notSeen[at].second, "call") + " to " +
                   printable(shownFunction(report.notSeen[at].first)));
  if (report.notSeen.size() > max)
    gaps.push_back(countWord(report.notSeen.size() - max, "other function") +
                   " (--json has all)");
  return gaps;
}

// Which arrays to put into sector 1, and the side file that tells mpg-clang
// so (docs/hints.md). An array that the divided cache cannot hold gains
// nothing from being in it, and pushes out those that it can hold: it is a
// stream. A second run of the program models the gain; this does not estimate
// it.

static uint64_t cacheBytes(const SimReport &report, const SimQuotas &quotas) {
  const sim::CacheLevel &cache = report.machine.caches[quotas.level];
  return cache.bytes / cache.ways * quotas.allWays;
}

static std::string streamName(const SimPart &part) {
  if (!part.key.empty())
    return part.key;
  if (!part.name.empty())
    return part.name;
  return sys::path::filename(part.file).str() + ":" + std::to_string(part.line);
}

StreamChoice mpg::chooseStream(const SimReport &report) {
  StreamChoice choice;
  SimQuotas quotas = getQuotas(report.machine);
  if (quotas.ways.empty()) {
    choice.reason = report.machine.name + " has no sector cache";
    return choice;
  }
  const sim::CacheLevel &cache = report.machine.caches[quotas.level];
  auto countMisses = [&](const SimCounts &counts) {
    return counts.pages.front().cacheMisses[quotas.level].max;
  };
  // There has to be one of each kind: without a stream nothing disturbs,
  // without an array that fits there is nothing to keep. Stacks cannot be named
  // in hints.
  bool hasKept = false;
  for (const SimPart &part : report.arrays) {
    if (countMisses(part.counts) * minMissesShare < countMisses(report.all) ||
        (part.kind != "global" && part.kind != "heap"))
      continue;
    if (part.bytes > cacheBytes(report, quotas))
      choice.arrays.push_back(part);
    else
      hasKept = true;
  }
  std::string held =
      "the " + formatBytes(cacheBytes(report, quotas)) + " of " + cache.name;
  if (choice.arrays.empty())
    choice.reason = "no array with many misses is larger than " + held;
  else if (!hasKept)
    choice.reason =
        "no array with many misses fits into " + held + " beside a stream";
  if (!choice.reason.empty())
    choice.arrays.clear();
  return choice;
}

std::string mpg::describeMergedArrays(const SimReport &report) {
  SimQuotas quotas = getQuotas(report.machine);
  if (quotas.ways.empty())
    return "";
  auto countMisses = [&](const SimCounts &counts) {
    return counts.pages.front().cacheMisses[quotas.level].max;
  };
  std::vector<std::string> merged;
  for (const SimPart &part : report.arrays) {
    if (countMisses(part.counts) * minMissesShare < countMisses(report.all))
      continue;
    if (part.kind == "other")
      merged.push_back(part.name);
    else if (part.kind == "heap" && part.blocks > 1)
      merged.push_back("the " + std::to_string(part.blocks) + " blocks of " +
                       streamName(part));
    else if (part.bytes > cacheBytes(report, quotas) && part.narrowest &&
             part.narrowest <= cacheBytes(report, quotas))
      merged.push_back("what lies in " + streamName(part));
  }
  return merged.empty() ? ""
                        : "cannot tell these apart: " + join(merged, ", ") +
                              "; --stream models what you name";
}

std::vector<std::string> StreamChoice::names() const {
  std::vector<std::string> all;
  for (const SimPart &part : arrays)
    all.push_back(streamName(part));
  return all;
}

static bool isFortran(const SimPart &part) {
  return sys::path::extension(part.file).starts_with_insensitive(".f");
}

/// The mark in the source, in its language, that puts \p part into sector 1.
static std::string describeMarking(const SimPart &part) {
  if (!isFortran(part))
    return "MPG_STREAM in front of the pointers to " +
           printable(streamName(part));
  std::string name = part.name.empty() ? "NAME" : part.name;
  return "'!OCL SCACHE_ISOLATE_ASSIGN(" + printable(name) +
         ")' in front of the loops that use " + printable(streamName(part)) +
         (part.name.empty() ? " (its variable, NAME, is not known)" : "");
}

std::string mpg::describeMarking(const StreamChoice &choice) {
  auto ways = map_range(choice.arrays, [](const SimPart &part) {
    return ::describeMarking(part);
  });
  return join(ways, ", ");
}

/// Names that need no quotes in YAML, and that the side file may have.
static bool isHintable(const SimPart &part) {
  return part.kind == "global" && !part.name.empty() &&
         all_of(part.name, [](char letter) {
           return isAlnum(letter) || letter == '_' || letter == '.';
         });
}

/// The name in a side file of the block of the heap \p part: the line that
/// allocates it. "": another block has it, too.
static std::string blockHint(const SimReport &report, const SimPart &part) {
  auto isPlain = [](StringRef text, StringRef others) {
    return all_of(text, [&](char letter) {
      return isAlnum(letter) || others.contains(letter);
    });
  };
  std::string file = sys::path::filename(part.file).str();
  bool isAlone = count_if(report.arrays, [&](const SimPart &other) {
                   return other.name == part.name && other.file == part.file &&
                          other.line == part.line;
                 }) == 1;
  if (part.kind != "heap" || file.empty() || !part.line || !isAlone ||
      !isPlain(file, "_.+-") || !isPlain(part.name, "_"))
    return "";
  return file + ":" + std::to_string(part.line) +
         (part.name.empty() ? "" : "/" + part.name);
}

/// The name of \p part in a side file; "": there is none.
static std::string hintName(const SimReport &report, const SimPart &part) {
  return isHintable(part) ? part.name : blockHint(report, part);
}

bool mpg::hasHint(const SimReport &report, const StreamChoice &choice) {
  return any_of(choice.arrays, [&](const SimPart &part) {
    return !hintName(report, part).empty();
  });
}

void mpg::writeAdvice(raw_ostream &out, const SimReport &report,
                      const StreamChoice &choice) {
  const SimQuota *best = bestQuota(report);
  std::string command = printable(report.command[0]);
  out << "# Advice of mpgsim for " << command << ": modelled for one core of "
      << printable(report.machine.name) << ", not measured.\n"
      << "# Sectors: " << describeQuotaVerdict(report) << ".\n"
      << "# Pages: " << describeVerdict(report) << ".\n"
      << "# Compile with "
      << (any_of(choice.arrays, isFortran) ? "mpg-flang" : "mpg-clang")
      << " --mpg-hints=FILE, then run:\n"
      << "#   FLIB_SCCR_CNTL=TRUE FLIB_L2_SECTOR_NWAYS_INIT="
      << report.divided.allWays - best->ways << "," << best->ways << " mpgrun "
      << command << "\n";
  for (const SimPart &part : choice.arrays) {
    std::string size = formatBytes(part.bytes);
    if (std::string name = hintName(report, part); !name.empty())
      out << name << ": stream # " << size << ", more than "
          << report.machine.caches[report.divided.level].name << " holds\n";
    else
      out << "# By hand: " << ::describeMarking(part) << ", " << size << "\n";
  }
}
