// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merges the reports of the ranks of an MPI job. Counts are sums. Times are
// those of the busiest core and core group of all: ranks do not wait for each
// other's memory, as each has separate core groups. Reads the reports out of
// the JSON that mpgsim has written.

#include "SimReport.h"
#include "Support/Format.h"
#include "Support/JsonFields.h"
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

/// Whether the two can be added.
static bool isAlike(const std::vector<SimPageCounts> &a,
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

/// Parts of one place in the source are one. \returns whether they could be.
static bool add(std::vector<SimPart> &to, const std::vector<SimPart> &from) {
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
    if (!isAlike(sum.counts.pages, part.counts.pages))
      return false;
    sum.bytes += part.bytes;
    sum.use.of4K += part.use.of4K;
    sum.use.of64K += part.use.of64K;
    sum.use.of2M += part.use.of2M;
    sum.counts.accesses += part.counts.accesses;
    add(sum.counts.pages, part.counts.pages);
  }
  return true;
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
  static const char *const isTorn = "has pages of other sizes in its parts";
  for (size_t at = 0; at < all.quotas.size(); ++at) {
    if (!isAlike(all.quotas[at].pages, rank.quotas[at].pages))
      return isTorn;
    add(all.quotas[at].pages, rank.quotas[at].pages);
  }
  if (!add(all.arrays, rank.arrays) || !add(all.loops, rank.loops))
    return isTorn;
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

// Reads schema mpgsim-1 again, as far as a merged report needs it.

/// More than any run has: a file that claims them is not one of ours.
static constexpr size_t maxParts = 1000000, maxPages = 64, maxRanks = 1000000;

static SimInterval readInterval(const JsonFields &fields, StringRef key) {
  std::vector<uint64_t> bounds = fields.counts(key);
  if (bounds.size() == 2)
    return {bounds[0], bounds[1]};
  fields.fail(key, "not two integers");
  return {};
}

static SimPageCounts readPage(const JsonFields &fields,
                              const sim::Machine &machine) {
  SimPageCounts page;
  page.pageBytes = fields.count("pageBytes");
  JsonFields tlbs = fields.object("tlbMisses");
  for (const sim::TlbLevel &level : machine.tlbs)
    page.tlbMisses.push_back(tlbs.count(validUtf8(level.name)));
  JsonFields caches = fields.object("cacheMisses");
  for (const sim::CacheLevel &level : machine.caches)
    page.cacheMisses.push_back(readInterval(caches, validUtf8(level.name)));
  JsonFields demanded = fields.object("demandMisses");
  for (const sim::CacheLevel &level : machine.caches)
    page.demandMisses.push_back(readInterval(demanded, validUtf8(level.name)));
  page.linesRead = readInterval(fields, "linesRead");
  page.linesWritten = readInterval(fields, "linesWritten");
  if (!fields.has("localLines"))
    return page;
  JsonFields lines = fields.object("localLines");
  for (const char *key : {"firstTouch", "prepage", "interleave"})
    page.placements.push_back({lines.count(key), lines.count("all")});
  return page;
}

static std::vector<SimPageCounts> readPages(const JsonFields &fields,
                                            const sim::Machine &machine) {
  std::vector<SimPageCounts> pages;
  fields.each("pages", maxPages, [&](const JsonFields &entry) {
    pages.push_back(readPage(entry, machine));
    if (!is_contained(machine.pageBytes, pages.back().pageBytes))
      entry.fail("pageBytes", "the machine has no such pages");
  });
  return pages;
}

static std::vector<SimPart> readParts(const JsonFields &fields, StringRef key,
                                      const sim::Machine &machine) {
  std::vector<SimPart> parts;
  fields.each(key, maxParts, [&](const JsonFields &entry) {
    SimPart part;
    part.kind = entry.text("kind");
    part.name = entry.text("name");
    if (entry.has("file"))
      part.file = entry.text("file");
    if (entry.has("line"))
      part.line = unsigned(entry.count("line"));
    if (entry.has("distinction"))
      part.distinction = " " + entry.text("distinction");
    if (entry.has("bytes"))
      part.bytes = entry.count("bytes");
    if (entry.has("pagesUsed")) {
      JsonFields use = entry.object("pagesUsed");
      part.use = {use.count("4KiB"), use.count("64KiB"), use.count("2MiB")};
    }
    part.counts = {entry.count("accesses"), readPages(entry, machine)};
    parts.push_back(std::move(part));
  });
  return parts;
}

/// As waitpid gives it.
static int readStatus(const JsonFields &fields) {
  return fields.has("signal") ? int(fields.count("signal") & 0x7f)
                              : int((fields.count("status") & 0xff) << 8);
}

static void readRanks(const JsonFields &fields, SimReport &report) {
  if (fields.has("ranks"))
    fields.each("ranks", maxRanks, [&](const JsonFields &entry) {
      report.ranks.push_back(
          {entry.has("rank") ? entry.text("rank") : std::string(),
           entry.count("accesses"), readStatus(entry)});
    });
  else
    report.ranks = {{"", report.all.accesses, report.ending.waitStatus}};
}

static void readSample(const JsonFields &fields, SimSampled &sampled) {
  if (!fields.has("sample"))
    return;
  JsonFields sample = fields.object("sample");
  std::string by = sample.text("by");
  if (by != "calls" && by != "function" && by != "time")
    sample.fail("by", "neither calls, function nor time");
  sampled.what.by = by == "calls"      ? MPG_SIM_CALLS
                    : by == "function" ? MPG_SIM_FUNCTION
                                       : MPG_SIM_TIME;
  if (sampled.what.by == MPG_SIM_FUNCTION) {
    sampled.what.function = sample.text("function");
    sampled.functions = unsigned(sample.count("functions"));
  }
  if (sampled.what.by == MPG_SIM_TIME) {
    sampled.what.seconds = double(sample.count("spanMs")) / 1e3;
    sampled.what.delay = double(sample.count("warmUpMs")) / 1e3;
  }
  sampled.what.isCold = sample.boolean("cold");
  sampled.warmUpAccesses = sample.count("warmUpAccesses");
  sampled.regions = unsigned(sample.count("regions"));
  sampled.isOpen = sample.boolean("open");
  sampled.loneEnds = unsigned(sample.count("loneEnds"));
  sampled.regionNs = sample.count("regionNs");
  sampled.runNs = sample.count("runNs");
}

static void readNotSeen(const JsonFields &fields, SimReport &report) {
  JsonFields notSeen = fields.object("notSeen");
  report.ending.otherThreads = unsigned(notSeen.count("threads"));
  report.ending.otherProcesses = unsigned(notSeen.count("processes"));
  report.ending.lostAccesses = notSeen.count("threadRecords");
  report.ending.skips = unsigned(notSeen.count("threadWaits"));
  report.damaged = notSeen.count("damagedRecords");
  notSeen.each("calls", maxParts, [&](const JsonFields &entry) {
    report.notSeen.push_back({entry.text("function"), entry.count("calls")});
  });
}

static void readQuotas(const JsonFields &fields, SimReport &report) {
  if (!fields.has("sectors"))
    return;
  JsonFields sectors = fields.object("sectors");
  report.divided = getQuotas(report.machine);
  report.stream = sectors.texts("stream");
  sectors.each("quotas", maxPages, [&](const JsonFields &entry) {
    report.quotas.push_back({unsigned(entry.count("sector1Ways")),
                             readPages(entry, report.machine)});
  });
}

/// Whether the file is one that this program and machine can read on.
static std::string refusal(const JsonFields &fields,
                           const sim::Machine &machine) {
  if (!fields.has("schema") || fields.text("schema") != "mpgsim-1")
    return "is not a file of mpgsim --json";
  std::string version = fields.has("version") ? fields.text("version") : "?";
  if (version != MPG_VERSION)
    return "was written by version " + printable(version) +
           " of mpgsim, this is " MPG_VERSION "; run it again";
  std::string name = fields.text("machine");
  if (name != validUtf8(machine.name))
    return "models " + printable(name) + ", and not " +
           printable(machine.name) +
           "; merge with the --machine= that the ranks had";
  return "";
}

std::string mpg::readSimReport(StringRef text, const sim::Machine &machine,
                               SimReport &report) {
  Expected<json::Value> value = parseJson(text, maxSimBytes);
  if (!value)
    return toString(value.takeError());
  std::string error;
  JsonFields fields(*value, "", error);
  if (std::string why = refusal(fields, machine); !why.empty())
    return why;
  report.machine = machine;
  report.build = fields.text("build");
  report.command = fields.texts("command");
  report.maps = unsigned(fields.count("maps"));
  report.cores = unsigned(fields.count("cores"));
  report.groups = unsigned(fields.count("coreGroups"));
  report.ending.waitStatus = readStatus(fields);
  report.accessedBytes = fields.count("accessedBytes");
  report.all = {fields.count("accesses"), readPages(fields, machine)};
  fields.each("busiest", maxPages, [&](const JsonFields &entry) {
    report.busiest.push_back({entry.count("walks"), entry.count("linesRead"),
                              entry.count("linesWritten")});
  });
  report.arrays = readParts(fields, "arrays", machine);
  report.loops = readParts(fields, "loops", machine);
  readNotSeen(fields, report);
  readRanks(fields, report);
  readSample(fields, report.sampled);
  readQuotas(fields, report);
  // The sizes of --pages=, which the rest of a report uses.
  report.machine.pageBytes.clear();
  for (const SimPageCounts &page : report.all.pages)
    report.machine.pageBytes.push_back(page.pageBytes);
  if (error.empty() && (report.command.empty() || report.all.pages.empty() ||
                        report.busiest.size() != report.all.pages.size()))
    error = "command, pages or busiest have not what a report needs";
  return error;
}
