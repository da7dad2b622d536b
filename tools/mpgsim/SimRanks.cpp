// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merges the reports of the ranks of an MPI job. Counts are sums. Times are
// those of the busiest core and core group of all: ranks do not wait for each
// other's memory, as each has separate core groups.

#include "SimReport.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <map>
#include <tuple>

using namespace llvm;
using namespace mpg;

static void add(SimInterval &to, const SimInterval &from) {
  to.min += from.min;
  to.max += from.max;
}

bool mpg::isAlike(const std::vector<SimPageCounts> &a,
                  const std::vector<SimPageCounts> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const SimPageCounts &one, const SimPageCounts &other) {
                      return one.pageBytes == other.pageBytes;
                    });
}

static void add(std::vector<SimPageCounts> &to,
                const std::vector<SimPageCounts> &from) {
  for (size_t at = 0; at < to.size(); ++at) {
    SimPageCounts &sum = to[at];
    const SimPageCounts &page = from[at];
    for (size_t level = 0; level < sum.tlbMisses.size(); ++level)
      sum.tlbMisses[level] += page.tlbMisses[level];
    for (size_t level = 0; level < sum.cacheMisses.size(); ++level)
      add(sum.cacheMisses[level], page.cacheMisses[level]);
    for (size_t level = 0; level < sum.demandMisses.size(); ++level)
      add(sum.demandMisses[level], page.demandMisses[level]);
    add(sum.linesRead, page.linesRead);
    add(sum.linesWritten, page.linesWritten);
    // A rank on one core group has no placements, and then the sum has none.
    if (sum.placements.size() != page.placements.size())
      sum.placements.clear();
    for (size_t policy = 0; policy < sum.placements.size(); ++policy) {
      sum.placements[policy].local += page.placements[policy].local;
      sum.placements[policy].moved += page.placements[policy].moved;
    }
  }
}

/// Parts of one place in the source are one.
static void add(std::vector<SimPart> &to, const std::vector<SimPart> &from) {
  using Key =
      std::tuple<std::string, std::string, std::string, unsigned, std::string>;
  auto getKey = [](const SimPart &part) -> Key {
    return {part.kind, part.name, part.file, part.line, part.distinction};
  };
  // A report may have several of one key: the first of one is added to the
  // first of the other. Filled from the end, because they are taken from there.
  std::map<Key, std::vector<size_t>> known;
  for (size_t at = to.size(); at-- > 0;)
    known[getKey(to[at])].push_back(at);
  for (const SimPart &part : from) {
    std::vector<size_t> &places = known[getKey(part)];
    if (places.empty()) {
      to.push_back(part);
      continue;
    }
    SimPart &sum = to[places.back()];
    places.pop_back();
    sum.bytes += part.bytes;
    sum.use.of4K += part.use.of4K;
    sum.use.of64K += part.use.of64K;
    sum.use.of2M += part.use.of2M;
    sum.counts.accesses += part.counts.accesses;
    add(sum.counts.pages, part.counts.pages);
  }
}

static void add(std::vector<std::pair<std::string, uint64_t>> &to,
                const std::vector<std::pair<std::string, uint64_t>> &from) {
  std::map<std::string, uint64_t> calls(to.begin(), to.end());
  for (const auto &[name, count] : from)
    calls[name] += count;
  to.assign(calls.begin(), calls.end());
}

static bool hasSameOptions(const SimReport &a, const SimReport &b) {
  const SimSample &one = a.sampled.what, &other = b.sampled.what;
  return isAlike(a.all.pages, b.all.pages) && a.maps == b.maps &&
         a.stream == b.stream && a.quotas.size() == b.quotas.size() &&
         one.by == other.by && one.function == other.function &&
         one.seconds == other.seconds && one.delay == other.delay &&
         one.isCold == other.isCold;
}

/// Why \p rank is none of the ranks that \p all has.
static std::string refusal(const SimReport &all, const SimReport &rank,
                           const std::string &first) {
  if (rank.command[0] != all.command[0])
    return "is about " + printable(rank.command[0]) + ", and " + first +
           " about " + printable(all.command[0]) +
           "; merge the ranks of one program";
  if (rank.build != all.build)
    return "is about another build of " + printable(rank.command[0]) +
           " than " + first + "; run all ranks with one";
  if (!hasSameOptions(all, rank))
    return "was made with other options than " + first +
           "; give all ranks the same --pages=, --maps=, --stream= and "
           "--sample, --cold";
  for (const SimRank &one : rank.ranks)
    for (const SimRank &other : all.ranks)
      if (!one.number.empty() && one.number == other.number)
        return "is of rank " + printable(one.number) +
               ", which another file is of, too; name each rank once";
  return "";
}

static void add(SimSampled &to, const SimSampled &from) {
  to.regions += from.regions;
  to.functions = std::max(to.functions, from.functions);
  to.loneEnds += from.loneEnds;
  to.isOpen |= from.isOpen;
  to.warmUpAccesses += from.warmUpAccesses;
  to.regionNs += from.regionNs;
  to.runNs += from.runNs;
}

static void add(SimEnding &to, const SimEnding &from) {
  // The first one that failed: the others may only follow it.
  if (!to.waitStatus)
    to.waitStatus = from.waitStatus;
  to.otherThreads += from.otherThreads;
  to.otherProcesses += from.otherProcesses;
  to.lostAccesses += from.lostAccesses;
  to.skips += from.skips;
}

std::string mpg::addRank(SimReport &all, const SimReport &rank,
                         const std::string &first) {
  if (std::string why = refusal(all, rank, first); !why.empty())
    return why;
  for (size_t at = 0; at < all.quotas.size(); ++at)
    add(all.quotas[at].pages, rank.quotas[at].pages);
  add(all.arrays, rank.arrays);
  add(all.loops, rank.loops);
  // Not the sum: ranks run side by side, each on different cores.
  for (size_t at = 0; at < all.busiest.size(); ++at) {
    SimBusiest &max = all.busiest[at];
    const SimBusiest &other = rank.busiest[at];
    max.walks = std::max(max.walks, other.walks);
    max.linesRead = std::max(max.linesRead, other.linesRead);
    max.linesWritten = std::max(max.linesWritten, other.linesWritten);
  }
  add(all.ending, rank.ending);
  add(all.sampled, rank.sampled);
  add(all.notSeen, rank.notSeen);
  all.all.accesses += rank.all.accesses;
  add(all.all.pages, rank.all.pages);
  all.cores += rank.cores;
  all.groups += rank.groups;
  all.accessedBytes += rank.accessedBytes;
  all.damaged += rank.damaged;
  all.ranks.insert(all.ranks.end(), rank.ranks.begin(), rank.ranks.end());
  return "";
}

/// Ranks below the last one that no file is of.
static std::string missingRanks(const SimReport &report) {
  std::vector<bool> isThere;
  for (const SimRank &rank : report.ranks) {
    unsigned number;
    // Not a number, or one that would only make the list long: leave it
    // out.
    if (StringRef(rank.number).getAsInteger(10, number) || number > 1000000)
      return "";
    isThere.resize(std::max<size_t>(isThere.size(), number + 1));
    isThere[number] = true;
  }
  size_t missing = size_t(llvm::count(isThere, false));
  if (!missing)
    return "";
  size_t first = size_t(llvm::find(isThere, false) - isThere.begin());
  return "; " + countWord(missing, "file") + (missing > 1 ? " are" : " is") +
         " missing" + ", that of rank " + std::to_string(first) +
         (missing > 1 ? " first" : "");
}

std::string mpg::describeRanks(const SimReport &report) {
  if (report.ranks.size() < 2)
    return "";
  auto [min, max] =
      std::minmax_element(report.ranks.begin(), report.ranks.end(),
                          [](const SimRank &a, const SimRank &b) {
                            return a.accesses < b.accesses;
                          });
  auto getName = [](const SimRank &rank) {
    return rank.number.empty() ? "" : " (rank " + printable(rank.number) + ")";
  };
  std::string text = std::to_string(report.ranks.size()) + ", each with " +
                     shortCount(min->accesses);
  if (min->accesses != max->accesses)
    text += getName(*min) + " to " + shortCount(max->accesses) + getName(*max);
  text += " loads and stores" + missingRanks(report);
  for (const SimRank &rank : report.ranks)
    if (rank.waitStatus) {
      SimEnding ending;
      ending.waitStatus = rank.waitStatus;
      return text + ";" +
             (rank.number.empty() ? " one rank"
                                  : " rank " + printable(rank.number)) +
             " " + describeEnding(ending);
    }
  return text;
}
