// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of the model's counters, by array and by loop.

#include "SimReport.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <map>
#include <set>

using namespace llvm;
using namespace mpg;
using namespace mpg::sim;

/// Of 2 MiB, that an array has to touch to be worth a picture; and its rows.
static constexpr unsigned minPages = 4, maxHeatRows = 32;

namespace {
/// Reads a row of counters, which may be a sum of rows.
class RowReader {
public:
  RowReader(const sim::Machine &machine, const CounterLayout &layout,
            unsigned maps, bool hasPlacements)
      : machine(machine), layout(layout), maps(maps),
        placements(hasPlacements ? std::size(placementNames) : 0) {}
  SimCounts read(const std::vector<uint64_t> &row, unsigned limit = 0) const;

private:
  SimPageCounts readPage(const std::vector<uint64_t> &row, unsigned page,
                         unsigned limit) const;
  SimLocality readPlacement(const std::vector<uint64_t> &row, unsigned page,
                            unsigned limit, unsigned placement) const;
  template <typename Counter> SimInterval overMaps(Counter counter) const;

  const sim::Machine &machine;
  const CounterLayout &layout;
  unsigned maps, placements;
};
} // namespace

std::vector<PlacementPolicy> mpg::getPlacements(const sim::Machine &machine) {
  if (machine.groups.count < 2)
    return {};
  // As placementNames has them.
  return {PlacementPolicy::firstTouch, PlacementPolicy::oneGroup,
          PlacementPolicy::interleave};
}

SimLocality RowReader::readPlacement(const std::vector<uint64_t> &row,
                                     unsigned page, unsigned limit,
                                     unsigned placement) const {
  // Of the first map of pages alone.
  SimLocality lines;
  for (bool written : {false, true}) {
    uint64_t local =
        row[layout.moved(page, 0, limit, placement, false, written)];
    lines.local += local;
    lines.moved +=
        local + row[layout.moved(page, 0, limit, placement, true, written)];
  }
  return lines;
}

/// Caches after the first are indexed by physical addresses, which differ from
/// run to run: a count is what it comes to under several maps.
template <typename Counter>
SimInterval RowReader::overMaps(Counter counter) const {
  SimInterval interval = {counter(0), counter(0)};
  for (unsigned map = 1; map < maps; ++map) {
    interval.min = std::min(interval.min, counter(map));
    interval.max = std::max(interval.max, counter(map));
  }
  return interval;
}

SimPageCounts RowReader::readPage(const std::vector<uint64_t> &row,
                                  unsigned page, unsigned limit) const {
  SimPageCounts counts;
  counts.pageBytes = machine.pageBytes[page];
  for (unsigned level = 0; level < machine.tlbs.size(); ++level)
    counts.tlbMisses.push_back(row[layout.tlbMisses(page, level)]);
  // The first cache is indexed by virtual addresses: no map changes it.
  uint64_t demand = row[layout.firstCache(limit, Count::demandMisses)];
  uint64_t first =
      demand + row[layout.firstCache(limit, Count::prefetchMisses)];
  counts.demandMisses.push_back({demand, demand});
  counts.cacheMisses.push_back({first, first});
  for (unsigned level = 1; level < machine.caches.size(); ++level) {
    auto demanded = [&](unsigned map) {
      return row[layout.cache(page, map, limit, level, Count::demandMisses)];
    };
    counts.demandMisses.push_back(overMaps(demanded));
    counts.cacheMisses.push_back(overMaps([&](unsigned map) {
      return demanded(map) +
             row[layout.cache(page, map, limit, level, Count::prefetchMisses)];
    }));
  }
  for (unsigned at = 0; at < placements; ++at)
    counts.placements.push_back(readPlacement(row, page, limit, at));
  // Misses of the last cache come from memory.
  counts.linesRead = counts.cacheMisses.back();
  counts.linesWritten = overMaps(
      [&](unsigned map) { return row[layout.memoryWrites(page, map, limit)]; });
  return counts;
}

SimCounts RowReader::read(const std::vector<uint64_t> &row,
                          unsigned limit) const {
  SimCounts counts;
  counts.accesses = row[layout.accesses()];
  for (unsigned page = 0; page < machine.pageBytes.size(); ++page)
    counts.pages.push_back(readPage(row, page, limit));
  return counts;
}

SimQuotas mpg::getQuotas(const sim::Machine &machine) {
  SimQuotas quotas;
  for (size_t level = 0; level < machine.caches.size(); ++level)
    if (machine.caches[level].sectors > 1) {
      quotas.level = level;
      quotas.allWays = machine.caches[level].modelledWays();
      quotas.limitsSector0 = machine.caches[level].limitsSector0;
    }
  // Each costs as much as a page size.
  for (unsigned ways : {0, 1, 2, 4, 7, 10})
    if (ways < quotas.allWays)
      quotas.ways.push_back(ways);
  return quotas;
}

std::vector<std::vector<WayLimits>> SimQuotas::limits() const {
  std::vector<std::vector<WayLimits>> all;
  for (unsigned one : ways) {
    std::vector<WayLimits> levels(level + 1);
    if (one)
      levels[level] = {uint8_t(limitsSector0 ? allWays - one : allWays),
                       uint8_t(one), 0, 0};
    all.push_back(levels);
  }
  return all;
}

static SimPart getPart(const SimArray &array) {
  static constexpr const char *kinds[] = {"other", "global", "stack", "heap"};
  SimPart part;
  part.kind = kinds[array.kind];
  part.name = array.name;
  part.file = array.file;
  part.line = array.line;
  part.bytes = array.kind == SimArray::stack ? 0 : array.bytes;
  part.key = array.key;
  part.distinction = array.distinction;
  part.blocks = array.maxBlocks;
  return part;
}

static SimPart getPart(const SimCode &code) {
  SimPart part;
  part.kind = code.isLoop ? "loop" : "code";
  part.name = code.function;
  part.file = code.file;
  part.line = code.line;
  return part;
}

/// Most expensive first: misses after the first cache, walks, accesses.
static bool isBefore(const SimPart &a, const SimPart &b) {
  auto key = [](const SimPart &part) {
    const SimPageCounts &page = part.counts.pages.front();
    return std::make_tuple(page.cacheMisses.back().max,
                           page.tlbMisses.empty() ? 0 : page.tlbMisses.back(),
                           part.counts.accesses, part.name, part.file,
                           part.line);
  };
  return key(a) > key(b);
}

/// The sum over sites of a counter of one core.
static uint64_t getCount(const SimProgram &program, unsigned counter,
                         unsigned core) {
  uint64_t sum = 0;
  for (unsigned site = 0; site < program.siteCount(); ++site)
    if (program.isCounted(site))
      sum += program.model().count(site, counter, core);
  return sum;
}

/// Cores and groups that made accesses, and what each page size has the
/// busiest of them do.
static void findBusiest(SimReport &report, const SimProgram &program) {
  const sim::Machine &machine = report.machine;
  const CounterLayout &layout = program.model().layout();
  unsigned coreCount = program.model().coreCount();
  std::set<unsigned> groups;
  report.cores = 0;
  // The threads that an MPI library starts access nothing that is recorded.
  for (unsigned core = 0; core < coreCount; ++core)
    if (getCount(program, layout.accesses(), core)) {
      ++report.cores;
      groups.insert(program.getGroup(core));
    }
  report.cores = std::max(report.cores, 1u);
  report.groups = std::max(unsigned(groups.size()), 1u);
  for (unsigned page = 0; page < machine.pageBytes.size(); ++page) {
    SimBusiest max;
    std::map<unsigned, std::pair<uint64_t, uint64_t>> lines; // by group
    unsigned last = unsigned(machine.caches.size()) - 1;
    for (unsigned core = 0; core < coreCount; ++core) {
      auto of = [&](unsigned counter) {
        return getCount(program, counter, core);
      };
      if (!machine.tlbs.empty())
        max.walks = std::max(
            max.walks,
            of(layout.tlbMisses(page, unsigned(machine.tlbs.size()) - 1)));
      auto &[read, written] = lines[program.getGroup(core)];
      // Map 0, and a cache that is not divided. Memory belongs to a group, so
      // its lines are those of all cores there; a page walk holds up one core.
      written += of(layout.memoryWrites(page, 0, 0));
      for (Count kind : {Count::demandMisses, Count::prefetchMisses})
        read += of(last ? layout.cache(page, 0, 0, last, kind)
                        : layout.firstCache(0, kind));
    }
    for (const auto &[group, counts] : lines) {
      max.linesRead = std::max(max.linesRead, counts.first);
      max.linesWritten = std::max(max.linesWritten, counts.second);
    }
    report.busiest.push_back(max);
  }
}

namespace {
using Row = std::vector<uint64_t>;

/// A site is one place in the source on one array, so its row is part of three
/// sums: all, the array's, and that of the loop or function.
struct Sums {
  explicit Sums(const SimProgram &program);

  Row all;
  std::vector<Row> arrays, codes;
};
} // namespace

Sums::Sums(const SimProgram &program)
    : all(program.model().layout().size()),
      arrays(program.arrays().count(), all),
      codes(program.places().codeCount(), all) {
  for (unsigned site = 0; site < program.siteCount(); ++site) {
    if (!program.isCounted(site))
      continue;
    const Site &what = program.model().site(site);
    for (unsigned counter = 0; counter < all.size(); ++counter) {
      uint64_t count = program.model().count(site, counter);
      all[counter] += count;
      arrays[what.array][counter] += count;
      codes[program.places().sameCode(what.loop)][counter] += count;
    }
  }
}

/// How far the narrowest load or store with many misses goes in each array.
static std::vector<uint64_t> findNarrowest(const SimProgram &program,
                                           const Sums &sums, unsigned level) {
  const CounterLayout &layout = program.model().layout();
  unsigned misses = level ? layout.cache(0, 0, 0, level, Count::demandMisses)
                          : layout.firstCache(0, Count::demandMisses);
  std::vector<uint64_t> narrowest(sums.arrays.size());
  for (unsigned site = 0; site < program.siteCount(); ++site) {
    if (!program.isCounted(site) ||
        program.model().count(site, misses) * minMissesShare < sums.all[misses])
      continue;
    uint64_t &min = narrowest[program.model().site(site).array];
    uint64_t reach = program.getReach(site);
    min = min ? std::min(min, reach) : reach;
  }
  return narrowest;
}

SimReport mpg::makeReport(const SimProgram &program,
                          const sim::Machine &machine, unsigned maps,
                          const SimQuotas &quotas) {
  const Sums sums(program);
  RowReader reader(machine, program.model().layout(), maps,
                   program.hasPlacements());
  SimReport report;
  report.machine = machine;
  report.maps = maps;
  findBusiest(report, program);
  report.all = reader.read(sums.all);
  report.divided = quotas;
  for (unsigned at = 0; at < quotas.ways.size(); ++at)
    report.quotas.push_back({quotas.ways[at], reader.read(sums.all, at).pages});
  report.accessedBytes = program.accessedBytes();
  report.damaged = program.damaged();
  report.build = utohexstr(program.build());
  auto addPart = [&](std::vector<SimPart> &parts, SimPart part,
                     const Row &row) {
    part.counts = reader.read(row);
    if (part.counts.accesses)
      parts.push_back(std::move(part));
  };
  std::vector<uint64_t> narrowest =
      findNarrowest(program, sums, unsigned(machine.caches.size()) - 1);
  std::vector<PageUse> uses = program.pageUses();
  // The last ones may never have been accessed.
  uses.resize(sums.arrays.size());
  for (unsigned number = 0; number < sums.arrays.size(); ++number) {
    SimPart part = getPart(program.arrays().array(number));
    part.use = uses[number];
    part.narrowest = narrowest[number];
    if (part.use.of2M >= minPages)
      part.heat = program.pageHeat(number, maxHeatRows);
    addPart(report.arrays, part, sums.arrays[number]);
  }
  for (unsigned number = 0; number < sums.codes.size(); ++number)
    addPart(report.loops, getPart(program.places().code(number)),
            sums.codes[number]);
  for (auto &[name, calls] : program.callsNotSeen())
    report.notSeen.push_back({name, calls});
  sortReport(report);
  return report;
}

void mpg::sortReport(SimReport &report) {
  llvm::sort(report.arrays, isBefore);
  llvm::sort(report.loops, isBefore);
  // By name, where calls are as many.
  llvm::sort(report.notSeen, [](const auto &a, const auto &b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
}
