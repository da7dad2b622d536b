// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Published measurements on A64FX, and the model's figures for the same work.
// "Guide" is the one of docs/hardware.md. Each test prints both.

#include "Machines/MachineFile.h"
#include "ModelPrograms.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>

using namespace mpg::sim;

static constexpr uint64_t kib = 1024, mib = kib << 10,
                          arena = uint64_t(1) << 40;

static Machine a64fx() {
  Machine machine;
  EXPECT_EQ(readMachine(MPG_SIM_MACHINES "/a64fx.yaml", machine), "");
  return machine;
}

/// Pages of 64 KiB and 2 MiB on one core; TLBs and the first cache only.
static WhatIf pagesOnly() {
  WhatIf whatIf;
  whatIf.pageBytes = {64 * kib, 2 * mib};
  whatIf.mapSeeds = {};
  whatIf.prefetch = false;
  return whatIf;
}

static std::string percent(uint64_t part, uint64_t whole, int digits) {
  char text[32];
  snprintf(text, sizeof text, "%.*f", digits,
           100 * double(part) / double(whole));
  return text;
}

namespace {
/// Misses in the L2 data TLB with the two page sizes.
struct TlbMisses {
  double small, large;
};
} // namespace

/// Guide 7.1: triad of three arrays of 83,880,960 doubles, ten passes.
static TlbMisses runTriad(Model &model) {
  constexpr uint64_t count = 83880960, bytes = 8 * count;
  unsigned b = model.addSite({0, 0, 64, false, 0});
  unsigned c = model.addSite({0, 1, 64, false, 0});
  unsigned a = model.addSite({0, 2, 64, true, 0});
  for (unsigned pass = 0; pass < 10; ++pass)
    model.core(0).affine(
        {{b, arena, 64}, {c, arena + bytes, 64}, {a, arena + 2 * bytes, 64}},
        bytes / 64);
  const CounterLayout &layout = model.layout();
  return {double(model.total(layout.tlbMisses(0, 1))),
          double(model.total(layout.tlbMisses(1, 1)))};
}

/// Guide 14.2: 65,536 random rows of 16 KiB of a table of 151,936.
/// \returns misses for each row.
static TlbMisses runEmbedding(Model &model) {
  constexpr uint64_t rowBytes = 16 * kib, rows = 151936, draws = 65536;
  unsigned table = model.addSite({0, 0, 64, false, 0});
  unsigned out = model.addSite({0, 1, 64, true, 0});
  Random random(1);
  for (uint64_t draw = 0; draw < draws; ++draw)
    model.core(0).affine(
        {{table, arena + random.below(rows) * rowBytes, 64},
         {out, arena + (uint64_t(4) << 30) + draw * rowBytes, 64}},
        rowBytes / 64);
  const CounterLayout &layout = model.layout();
  return {double(model.total(layout.tlbMisses(0, 1))) / draws,
          double(model.total(layout.tlbMisses(1, 1))) / draws};
}

static void expectRatesOf71(const Model &model) {
  const CounterLayout &layout = model.layout();
  uint64_t accesses = model.total(layout.accesses());
  auto rate = [&](unsigned page, unsigned level, int digits) {
    return percent(model.total(layout.tlbMisses(page, level)), accesses,
                   digits);
  };
  printf("guide 7.1       published 64 KiB / 2 MiB   model\n"
         "L1 DTLB misses  0.098 %% / 0.003 %%          %s %% / %s %%\n"
         "L2 DTLB misses  0.098 %% / 0.0003 %%         %s %% / %s %%\n",
         rate(0, 0, 4).c_str(), rate(1, 0, 5).c_str(), rate(0, 1, 4).c_str(),
         rate(1, 1, 6).c_str());
  EXPECT_EQ(rate(0, 0, 3), "0.098");
  EXPECT_EQ(rate(1, 0, 3), "0.003");
  EXPECT_EQ(rate(0, 1, 3), "0.098");
  EXPECT_EQ(rate(1, 1, 4), "0.0003");
}

TEST(SimPublished, Guide71And142) {
  Machine machine = a64fx();
  Model triad(machine, pagesOnly()), embedding(machine, pagesOnly());
  TlbMisses inTriad = runTriad(triad), inRows = runEmbedding(embedding);
  expectRatesOf71(triad);
  // Reads and writes 32 KiB a row at 42.3 GB/s with 2 MiB pages, at 33.0 with
  // 64 KiB pages; the triad takes 0.347 and 0.435 s.
  double largeNs = 32768 / 42.3, smallNs = 32768 / 33.0;
  double fromRowsNs = (smallNs - largeNs) / (inRows.small - inRows.large);
  double fromTriadNs = (0.435 - 0.347) * 1e9 / (inTriad.small - inTriad.large);
  double triadSeconds =
      0.347 + fromRowsNs * 1e-9 * (inTriad.small - inTriad.large);
  double rowsGbps =
      32768 / (largeNs + fromTriadNs * (inRows.small - inRows.large));
  printf("guide 14.2: L2 DTLB misses a row %.3f (64 KiB), %.3f (2 MiB)\n"
         "a miss costs %.0f ns by 14.2, %.0f ns by 7.1; the machine file says "
         "%.0f to %.0f\n"
         "7.1 from 14.2   published 0.435 s    model %.3f s (%+.1f %%)\n"
         "14.2 from 7.1   published 33.0 GB/s  model %.1f GB/s (%+.1f %%)\n",
         inRows.small, inRows.large, fromRowsNs, fromTriadNs,
         machine.walk.minNs, machine.walk.maxNs, triadSeconds,
         100 * (triadSeconds / 0.435 - 1), rowsGbps,
         100 * (rowsGbps / 33.0 - 1));
  EXPECT_NEAR(triadSeconds / 0.435, 1, 0.08);
  EXPECT_NEAR(rowsGbps / 33.0, 1, 0.08);
  EXPECT_NEAR(fromRowsNs, machine.walk.minNs, 2);
  EXPECT_NEAR(fromTriadNs, machine.walk.maxNs, 2);

  // Of 12 threads each has a twelfth of the memory's bandwidth; a row is read,
  // and its place in the output is read and written.
  double roofNs = 12 * std::max(32 * kib / machine.roofs.memoryReadGbps,
                                16 * kib / machine.roofs.memoryWriteGbps);
  printf("12 threads: a row takes %.0f ns by bandwidth, %.0f to %.0f ns by "
         "latency: no gain (published: about 0 %%)\n",
         roofNs, largeNs, smallNs);
  EXPECT_GT(roofNs, smallNs);
}

/// Row numbers in proportion to 1 / rank^alpha, hot rows spread over the table.
static std::vector<uint64_t> drawRows(double alpha, uint64_t rows,
                                      uint64_t draws) {
  Random random(20);
  std::vector<uint64_t> rowOfRank(rows);
  for (uint64_t rank = 0; rank < rows; ++rank)
    rowOfRank[rank] = rank;
  for (uint64_t rank = rows - 1; rank; --rank)
    std::swap(rowOfRank[rank], rowOfRank[random.below(rank + 1)]);
  std::vector<double> sums(rows);
  double sum = 0;
  for (uint64_t rank = 0; rank < rows; ++rank)
    sums[rank] = sum += std::pow(double(rank + 1), -alpha);
  std::vector<uint64_t> drawn(draws);
  for (uint64_t &row : drawn) {
    double at = double(random.next() >> 11) * 0x1p-53 * sum;
    row = rowOfRank[uint64_t(std::lower_bound(sums.begin(), sums.end(), at) -
                             sums.begin())];
  }
  return drawn;
}

/// Guide 14.5 with 12 threads that share an L2 cache. \returns the share of the
/// table's lines that come from memory.
static double missingShare(const Machine &machine,
                           const std::vector<uint64_t> &rows) {
  constexpr uint64_t rowBytes = 16 * kib, threads = 12;
  WhatIf whatIf;
  whatIf.pageBytes = {2 * mib};
  whatIf.mapSeeds = {1};
  whatIf.prefetch = false;
  whatIf.groupOfCore.assign(threads, 0);
  Model model(machine, whatIf);
  unsigned table = model.addSite({0, 0, 256, false, 0});
  unsigned out = model.addSite({0, 1, 256, true, 0});
  uint64_t each = rows.size() / threads;
  for (uint64_t row = 0; row < each; ++row)
    for (uint64_t at = 0; at < rowBytes; at += 256)
      for (unsigned thread = 0; thread < threads; ++thread) {
        uint64_t token = thread * each + row;
        Core &core = model.core(thread);
        core.access(table, arena + rows[token] * rowBytes + at);
        core.access(out, arena + (uint64_t(4) << 30) + token * rowBytes + at);
      }
  const CounterLayout &layout = model.layout();
  return double(model.count(table,
                            layout.cache(0, 0, 0, 1, Count::demandMisses))) /
         double(model.count(table, layout.accesses()));
}

TEST(SimPublished, Guide145GainByDistribution) {
  struct Published {
    double alpha, uniqueThousands, gain;
  };
  Machine machine = a64fx();
  double even = 1;
  printf("guide 14.5  unique rows      gain       model: stores that\n"
         "alpha       publ. / drawn    published  allocate / do not\n");
  for (const Published &published :
       {Published{0.0, 51, 1}, Published{0.8, 32, 1.04},
        Published{1.0, 19, 1.17}, Published{1.2, 8, 1.37}}) {
    std::vector<uint64_t> rows = drawRows(published.alpha, 151936, 65536);
    double missing = missingShare(machine, rows);
    if (published.alpha == 0)
      even = missing;
    std::sort(rows.begin(), rows.end());
    auto unique = std::unique(rows.begin(), rows.end()) - rows.begin();
    // Lines moved: the row, and the output read and written, or written alone.
    double allocating = (even + 2) / (missing + 2);
    double streaming = (even + 1) / (missing + 1);
    printf("%.1f         %2.0fK / %.1fK      %.2f       %.3f / %.3f\n",
           published.alpha, published.uniqueThousands, double(unique) / 1000,
           published.gain, allocating, streaming);
    EXPECT_LE(allocating, published.gain) << published.alpha;
    EXPECT_GE(streaming, published.gain) << published.alpha;
  }
}

/// Guide 7.5: eight arrays of 512 KiB, one after the other or 9 lines more
/// apart. The kernel is not public: two accesses of each element, unrolled by
/// four, and the prefetcher's distance are fitted.
static std::pair<double, double> runThrashing(uint64_t apart) {
  WhatIf whatIf = pagesOnly();
  whatIf.prefetch = true;
  Model model(a64fx(), whatIf);
  std::vector<Stream> streams;
  for (uint64_t array = 0; array < 8; ++array)
    for (uint64_t unrolled = 0; unrolled < 4; ++unrolled)
      for (bool store : {false, true}) {
        unsigned site = model.addSite({0, unsigned(array), 64, store, 0});
        streams.push_back({site, arena + array * apart + unrolled * 64, 256});
      }
  for (unsigned pass = 0; pass < 3; ++pass)
    model.core(0).affine(streams, 256 * 256 / 12 * 8 / 256);
  const CounterLayout &layout = model.layout();
  double demand =
      double(model.total(layout.firstCache(0, Count::demandMisses)));
  double all =
      demand + double(model.total(layout.firstCache(0, Count::prefetchMisses)));
  return {all / double(model.total(layout.accesses())), demand / all};
}

/// Lines that an element of axhelm reads (HW:a64fx-published-counters): six of
/// the seven planes of its factors, 4 KiB each, and its point values, read and
/// written. The prefetcher of the second cache fetches lines of the seventh
/// plane.
static double linesOfElement(bool prefetch) {
  constexpr unsigned elements = 400;
  constexpr uint64_t plane = 4 * kib;
  WhatIf whatIf = pagesOnly();
  whatIf.pageBytes = {2 * mib};
  whatIf.mapSeeds = {1};
  whatIf.prefetch = prefetch;
  Model model(a64fx(), whatIf);
  std::vector<unsigned> sites;
  for (unsigned array = 0; array < 8; ++array)
    sites.push_back(model.addSite({0, array, 64, array == 7, 0}));
  for (uint64_t element = 0; element < elements; ++element) {
    std::vector<Stream> streams;
    for (uint64_t factor = 1; factor < 7; ++factor)
      streams.push_back(
          {sites[factor - 1], arena + (element * 7 + factor) * plane, 64});
    for (uint64_t array = 1; array < 3; ++array)
      streams.push_back(
          {sites[5 + array], arena + array * 64 * mib + element * plane, 64});
    model.core(0).affine(streams, plane / 64);
  }
  const CounterLayout &layout = model.layout();
  return double(model.total(layout.cache(0, 0, 0, 1, Count::demandMisses)) +
                model.total(layout.cache(0, 0, 0, 1, Count::prefetchMisses))) /
         elements;
}

TEST(SimPublished, ShortStreamsOfAxhelm) {
  double lines = linesOfElement(true);
  printf("axhelm: lines from memory  published  model\n");
  for (double published : {142.7, 140.2, 138.0}) {
    printf("an element                 %.1f      %.1f (%.3f)\n", published,
           lines, lines / published);
    EXPECT_NEAR(lines / published, 1, 0.05);
  }
  EXPECT_NEAR(linesOfElement(false), 128, 1); // exactly eight planes
}

TEST(SimPublished, Guide75CacheThrashingFittedKernel) {
  auto [before, beforeDemand] = runThrashing(512 * kib);
  auto [after, afterDemand] = runThrashing(512 * kib + 2304);
  printf("guide 7.5 (fitted kernel)   published        model\n"
         "L1D misses per load-store   0.26 / 0.13      %.3f / %.3f\n"
         "of them demand misses       51.52 / 9.47 %%   %.1f / %.1f %%\n",
         before, after, 100 * beforeDemand, 100 * afterDemand);
  EXPECT_NEAR(before / 0.26, 1, 0.05);
  EXPECT_NEAR(after / 0.13, 1, 0.05);
}

static WhatIf withLimits(const std::vector<WayLimits> &limits) {
  WhatIf whatIf = pagesOnly();
  whatIf.limits.clear();
  for (const WayLimits &limit : limits)
    whatIf.limits.push_back({limit});
  return whatIf;
}

/// Loads \p keepBytes in sector 0, streams 96 KiB in sector 1, and loads the
/// first again. \returns how many of its lines were still there, for each
/// limit.
static std::vector<double> keptShare(uint64_t keepBytes,
                                     const std::vector<WayLimits> &limits) {
  Model model(a64fx(), withLimits(limits));
  unsigned keep = model.addSite({0, 0, 64, false, 0});
  unsigned stream = model.addSite({0, 1, 64, false, 1});
  Core &core = model.core(0);
  core.range(keep, arena, keepBytes);
  core.range(stream, arena + mib, 96 * kib);
  model.resetCounts();
  core.range(keep, arena, keepBytes);
  std::vector<double> shares;
  for (unsigned limit = 0; limit < limits.size(); ++limit)
    shares.push_back(1 - double(model.total(model.layout().firstCache(
                             limit, Count::demandMisses))) /
                             (double(keepBytes) / 256));
  return shares;
}

// By public notes of users of Fugaku: cycles of a load from an array in sector
// 0 of L1 after a stream of 96 KiB in sector 1. A load takes 4 to 6 cycles from
// L1 and 14 to 17 from L2.
TEST(SimPublished, SectorsOfL1) {
  struct Published {
    uint64_t keepBytes;
    std::vector<double> cycles; ///< of a load; 0: not published
    std::vector<double> kept;
  };
  const std::vector<WayLimits> limits = {{1, 1}, {2, 2}, {3, 1},
                                         {3, 3}, {4, 4}, {4, 0}};
  for (const Published &published :
       {Published{16 * kib, {4.1, 4.0, 4.1, 0, 14.5, 14.6}, {1, 1, 1, 1, 0, 0}},
        Published{32 * kib, {0, 5.8, 5.1, 10.5, 15.6, 0}, {1, 1, 1, 0.5, 0, 0}},
        Published{48 * kib, {0, 0, 5.7, 13.0, 15.9, 0}, {1, 0, 1, 0, 0, 0}}}) {
    std::vector<double> kept = keptShare(published.keepBytes, limits);
    EXPECT_EQ(kept, published.kept);
    printf("%2llu KiB kept beside a stream of 96 KiB:\n",
           (unsigned long long)(published.keepBytes / kib));
    for (size_t at = 0; at < limits.size(); ++at) {
      double cycles = published.cycles[at];
      if (!cycles)
        continue;
      printf("  ways %d, %d   published %4.1f cycles a load   model %.0f %% in "
             "L1\n",
             limits[at][0], limits[at][1], cycles, 100 * kept[at]);
      EXPECT_NEAR(cycles, 5 * kept[at] + 15.5 * (1 - kept[at]), 2.6);
    }
  }
}

/// Random lookups in a table in sector 0, beside two streams of 4 bytes for
/// each lookup in sector 2. \returns refills of L1 for a lookup, for each
/// limit.
static std::vector<double>
refillsOfLookups(uint64_t tableBytes, const std::vector<WayLimits> &limits) {
  Model model(a64fx(), withLimits(limits));
  unsigned table = model.addSite({0, 0, 4, false, 0});
  unsigned values = model.addSite({0, 1, 4, false, 2});
  unsigned places = model.addSite({0, 2, 4, false, 2});
  constexpr uint64_t lookups = 1 << 20, warmUp = 1 << 16;
  Random random(1);
  for (uint64_t lookup = 0; lookup < warmUp + lookups; ++lookup) {
    if (lookup == warmUp)
      model.resetCounts();
    Core &core = model.core(0);
    core.access(places, arena + 128 * mib + 4 * lookup);
    core.access(values, arena + 64 * mib + 4 * lookup);
    core.access(table, arena + 4 * random.below(tableBytes / 4));
  }
  std::vector<double> refills;
  for (unsigned limit = 0; limit < limits.size(); ++limit)
    refills.push_back(double(model.total(model.layout().firstCache(
                          limit, Count::demandMisses))) /
                      lookups);
  return refills;
}

// HW:sector-lookups. 14 passes of 16 Mi lookups in each of two tables.
TEST(SimPublished, SectorsOfLookups) {
  const std::vector<WayLimits> limits = {{2, 2}, {3, 1}};
  std::vector<double> small = refillsOfLookups(2 * mib, limits),
                      large = refillsOfLookups(4 * mib, limits);
  for (auto [limit, published] : std::map<size_t, double>{{0, 479}, {1, 476}}) {
    double modelled = 14 * 16 * 1.048576 * (small[limit] + large[limit]);
    printf("lookups in %d ways of L1: published %.0f M refills, model %.1f M\n",
           limits[limit][0], published, modelled);
    EXPECT_NEAR(modelled / published, 1, 0.005);
  }
}

/// Lines read from the memory of the own group, and from others.
static std::vector<uint64_t> readByPlace(const Model &model,
                                         unsigned placement) {
  std::vector<uint64_t> lines;
  for (bool isRemote : {false, true})
    lines.push_back(
        model.total(model.layout().moved(0, 0, 0, placement, isRemote, false)));
  return lines;
}

static WhatIf wholeChip(std::vector<PlacementPolicy> placements) {
  WhatIf whatIf;
  whatIf.pageBytes = {2 * mib};
  whatIf.prefetch = false;
  whatIf.placements = std::move(placements);
  whatIf.groupOfCore.clear();
  for (unsigned core = 0; core < 48; ++core)
    whatIf.groupOfCore.push_back(core / 12);
  return whatIf;
}

// 48 threads, three arrays of 336 MiB, 7 MiB of each for a thread.
TEST(SimPublished, Guide72WhereTheLinesLie) {
  constexpr uint64_t share = 7 * mib, array = 48 * share;
  Model model(a64fx(), wholeChip({PlacementPolicy::oneGroup,
                                  PlacementPolicy::firstTouch}));
  unsigned load = model.addSite({0, 0, 64, false, 0});
  unsigned store = model.addSite({0, 1, 64, true, 0});
  auto run = [&](unsigned first, unsigned second) {
    for (unsigned core = 0; core < 48; ++core) {
      uint64_t begin = arena + core * share;
      model.core(core).affine({{first, begin, 64},
                               {second, begin + array, 64},
                               {store, begin + 2 * array, 64}},
                              share / 64);
    }
  };
  run(store, store);
  model.resetCounts();
  run(load, load);
  uint64_t lines = 3 * array / 256;
  std::vector<uint64_t> prepage = readByPlace(model, 0);
  std::vector<uint64_t> demand = readByPlace(model, 1);
  printf("guide 7.2: lines read        local     remote\n"
         "prepage (93 GB/s)       %10llu %10llu\n"
         "demand (804 GB/s)       %10llu %10llu\n",
         (unsigned long long)prepage[0], (unsigned long long)prepage[1],
         (unsigned long long)demand[0], (unsigned long long)demand[1]);
  EXPECT_EQ(prepage, (std::vector<uint64_t>{lines / 4, lines * 3 / 4}));
  EXPECT_EQ(demand, (std::vector<uint64_t>{lines, 0}));
}

// FP16 rows of 8 KiB; a quarter of the tokens, table, indices and output for
// each group, or one table. 32,784 tokens (683 a thread) instead of 262,144.
TEST(SimPublished, Guide154WhereTheLinesLie) {
  constexpr uint64_t rowBytes = 8 * kib, rows = 151936, tokens = 32784;
  constexpr uint64_t tableBytes =
      rows * rowBytes / (2 * mib) * (2 * mib) + 2 * mib;
  constexpr uint64_t outputs = arena << 1, indices = arena << 2;
  for (bool replicated : {true, false}) {
    Model model(a64fx(), wholeChip({PlacementPolicy::firstTouch}));
    unsigned table = model.addSite({0, 0, 64, false, 0});
    unsigned out = model.addSite({0, 1, 64, true, 0});
    unsigned index = model.addSite({0, 2, 4, false, 0});
    for (unsigned group = 0; group < (replicated ? 4 : 1); ++group)
      model.core(group * 12)
          .affine({{out, arena + group * tableBytes, 2 * mib}},
                  tableBytes / (2 * mib));
    model.resetCounts();
    for (uint64_t token = 0; token < tokens; ++token) {
      unsigned cpu = unsigned(token % 48), group = cpu / 12;
      Core &core = model.core(cpu);
      core.access(index, indices + group * 2 * mib + token / 4 * 4);
      core.affine({{table,
                    arena + (replicated ? group * tableBytes : 0) +
                        token * 4639 % rows * rowBytes, // each at most once
                    64},
                   {out,
                    outputs + group * (uint64_t(1) << 30) +
                        token / 48 * 12 * rowBytes + token % 12 * rowBytes,
                    64}},
                  rowBytes / 64);
    }
    std::vector<uint64_t> lines = readByPlace(model, 0);
    uint64_t far = lines[1];
    printf("guide 15.4, %s: %llu lines read locally, %llu remotely\n",
           replicated ? "replicated" : "one table",
           (unsigned long long)lines[0], (unsigned long long)far);
    // One table: 36 of 48 threads read theirs from group 0.
    EXPECT_EQ(far, replicated ? 0 : tokens * 3 / 4 * (rowBytes / 256));
  }
}
