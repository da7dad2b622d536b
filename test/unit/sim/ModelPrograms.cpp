// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machines are small, so that a few thousand accesses fill every level of them.

#include "ModelPrograms.h"
#include "NaiveModel.h"

using namespace mpg::sim;

static Replacement randomReplacement(Random &random) {
  return random.oneIn(3) ? Replacement::fifo : Replacement::lru;
}

static CacheLevel randomCache(Random &random, unsigned level,
                              unsigned lineBytes, uint64_t sets) {
  CacheLevel cache;
  cache.ways = unsigned(level ? 2 + random.below(23) : 1 + random.below(8));
  if (level && random.oneIn(3))
    cache.usableWays = unsigned(1 + random.below(cache.ways));
  if (level == 2 && random.oneIn(2))
    sets += sets / 2; // no power of two
  cache.bytes = sets * cache.ways * lineBytes;
  cache.replacement = randomReplacement(random);
  cache.shared = level && random.oneIn(2);
  if (level == 1 && random.oneIn(2)) {
    cache.hash.bits = 1 + unsigned(random.below(3));
    cache.hash.at = unsigned(random.below(3));
    for (unsigned count = 1 + unsigned(random.below(4)); count; --count)
      cache.hash.from.push_back(8 + unsigned(random.below(25)));
  }
  cache.sectors = random.oneOf<unsigned>({1, 2, 4});
  cache.hitRelabels = random.oneIn(2);
  return cache;
}

static Machine randomMachine(Random &random) {
  Machine machine;
  machine.lineBytes = random.oneOf<unsigned>({64, 128, 256});
  machine.physicalBits = 24 + unsigned(random.below(16));
  machine.groups.count = 1 + unsigned(random.below(4));
  uint64_t sets = uint64_t(1) << (1 + random.below(random.oneIn(3) ? 7 : 4));
  for (unsigned level = 0; level < 1 + random.below(3); ++level) {
    machine.caches.push_back(
        randomCache(random, level, machine.lineBytes, sets));
    sets <<= random.below(4);
  }
  bool isA64fx = !random.oneIn(3); // TLB and prefetcher
  for (unsigned level = 0; level < 1 + random.below(2); ++level) {
    TlbLevel tlb;
    for (uint64_t page : {uint64_t(4096), uint64_t(65536), uint64_t(1) << 21}) {
      TlbArray array;
      array.pageBytes = {page};
      array.ways = 1 + unsigned(random.below(8));
      array.entries = array.ways * unsigned(1 + random.below(level ? 9 : 4));
      array.replacement = randomReplacement(random);
      if (isA64fx && !level) {
        array.ways = array.entries;
        array.replacement = Replacement::fifo;
      }
      if (!level || !random.oneIn(4))
        tlb.arrays.push_back(array);
    }
    machine.tlbs.push_back(tlb);
  }
  for (unsigned level = 0; level < std::min<size_t>(machine.caches.size(), 2);
       ++level)
    if (random.oneIn(2))
      machine.prefetchers.push_back({level, 1 + unsigned(random.below(9)),
                                     1 + unsigned(random.below(6))});
  return machine;
}

/// Of which the second cache does all the work.
static Machine machineOfSecondCache(Random &random) {
  Machine machine = randomMachine(random);
  machine.caches.resize(2 + random.below(2), machine.caches[0]);
  for (unsigned level = 0; level < machine.caches.size(); ++level)
    machine.caches[level] = randomCache(random, level, machine.lineBytes,
                                        level ? 8 << random.below(3) : 2);
  machine.caches[0].ways = 2;
  machine.caches[0].bytes = uint64_t(4) * machine.lineBytes;
  machine.caches[1].usableWays = 0;
  if (!random.oneIn(3))
    machine.prefetchers.clear();
  return machine;
}

static WhatIf randomWhatIf(Random &random, const Machine &machine) {
  WhatIf whatIf;
  whatIf.pageBytes = random.oneOf<std::vector<uint64_t>>(
      {{4096}, {65536, 1 << 21}, {4096, 65536, 1 << 21}});
  whatIf.mapSeeds = random.oneOf<std::vector<uint64_t>>({{0}, {0, 1}, {7, 9}});
  whatIf.limits.clear();
  for (uint64_t count = 1 + random.below(3); count; --count) {
    std::vector<WayLimits> levels(random.below(machine.caches.size() + 1));
    for (WayLimits &limits : levels)
      for (uint8_t &ways : limits)
        ways = uint8_t(random.below(6));
    whatIf.limits.push_back(levels);
  }
  if (random.oneIn(2))
    whatIf.placements = {PlacementPolicy::firstTouch, PlacementPolicy::oneGroup,
                         PlacementPolicy::interleave};
  whatIf.prefetch = !random.oneIn(4);
  whatIf.groupOfCore.clear();
  for (uint64_t count = 1 + random.below(4); count; --count)
    whatIf.groupOfCore.push_back(unsigned(random.below(machine.groups.count)));
  return whatIf;
}

namespace {
/// One program, on both models at once.
class Program {
public:
  Program(Random &random, const Machine &machine, const WhatIf &whatIf)
      : random(random), whatIf(whatIf), fast(machine, whatIf),
        naive(machine, whatIf), machine(machine) {
    for (uint64_t count = 1 + random.below(8); count; --count)
      addSite();
    for (uint64_t count = 1 + random.below(6); count; --count)
      arrays.push_back((uint64_t(1) << 40) + random.below(64) * 65536 +
                       random.oneOf<uint64_t>({0, 0, 8, 4, 13, 4096, 2304}));
  }

  uint64_t run(uint64_t budget) {
    bool isSparse = random.oneIn(4);
    while (done < budget)
      switch (isSparse ? 8 : random.below(11)) {
      case 0:
      case 1:
        runAffine();
        break;
      case 2:
        runTriangle();
        break;
      case 3:
        runGather();
        break;
      case 4:
        runMixed();
        break;
      case 5:
        runCopy();
        break;
      case 6:
        runUnrolled();
        break;
      case 7:
        runLong();
        break;
      case 8:
        runBundle();
        break;
      case 9:
      case 10:
        runColumns();
        break;
      }
    return done;
  }

  /// A part of the lines of the second cache, at random, for so long that it
  /// has all of them; now and then others for a while, or another core.
  void runHeld(uint64_t budget) {
    const CacheLevel &cache = machine.caches[1];
    uint64_t max = cache.bytes / machine.lineBytes;
    uint64_t lines = max / random.oneOf<uint64_t>({2, 3, 4, 8});
    uint64_t seldom = random.oneOf<uint64_t>({100, 1000, 3000});
    unsigned core = anyCore();
    uint64_t base = anyArray();
    while (done < budget) {
      access(core, anySite(), base + random.below(lines) * machine.lineBytes);
      if (!random.oneIn(seldom))
        continue;
      core = random.oneIn(3) ? anyCore() : core;
      uint64_t other = base + random.below(1 << 20);
      for (uint64_t count = random.below(2 * max); count; --count)
        access(core, anySite(), other += machine.lineBytes);
    }
  }

  std::string difference() const {
    for (unsigned site = 0; site < siteCount; ++site)
      for (unsigned at = 0; at < fast.layout().size(); ++at)
        if (fast.count(site, at) != naive.count(site, at))
          return "site " + std::to_string(site) + ", counter " +
                 std::to_string(at) + ": " +
                 std::to_string(fast.count(site, at)) + ", naive " +
                 std::to_string(naive.count(site, at));
    return "";
  }

private:
  void addSite(uint64_t maxBytes = 64) {
    Site site;
    do
      site.bytes = random.oneOf<unsigned>({4, 8, 8, 16, 64});
    while (site.bytes > maxBytes);
    site.store = random.oneIn(3);
    site.sector = uint8_t(random.oneIn(2) ? random.below(4) : 0);
    site.zeroes = siteCount && random.oneIn(10);
    if (siteCount && !site.zeroes && random.oneIn(8)) {
      site.prefetches = uint8_t(1 + random.below(2));
      site.store = false;
    }
    if (site.zeroes || site.prefetches)
      site.bytes = 1;
    else
      plainSites.push_back(siteCount);
    fast.addSite(site);
    naive.addSite(site);
    ++siteCount;
  }

  unsigned anyCore() {
    return unsigned(random.below(whatIf.groupOfCore.size()));
  }
  unsigned anySite() { return unsigned(random.below(siteCount)); }
  uint64_t anyArray() { return random.oneOf(arrays); }

  std::vector<Stream> anyStreams() {
    std::vector<Stream> streams;
    for (uint64_t count = 1 + random.below(8); count; --count)
      streams.push_back(
          {anySite(), anyArray() + random.below(4) * 1024,
           random.oneOf<int64_t>({0, 4, 8, 8, 8, 16, 24, 64, 64, -8, -64, 72,
                                  200, 1024, 4096, -520, 65536})});
    return streams;
  }

  void affine(unsigned core, const std::vector<Stream> &streams,
              uint64_t times) {
    fast.core(core).affine(streams, times);
    naive.affine(core, streams, times);
    done += times * streams.size();
  }

  void access(unsigned core, unsigned site, uint64_t address) {
    fast.core(core).access(site, address);
    naive.access(core, site, address);
    ++done;
  }

  void runAffine() {
    unsigned core = anyCore();
    std::vector<Stream> streams = anyStreams();
    uint64_t times = random.below(300);
    for (uint64_t passes = 1 + random.below(3); passes; --passes)
      affine(core, streams, times);
  }

  static void sortByTurn(std::vector<Stream> &streams, uint64_t turns) {
    std::vector<Stream> sorted;
    for (uint64_t turn = 0; turn < turns; ++turn)
      for (size_t at = turn; at < streams.size(); at += turns)
        sorted.push_back(streams[at]);
    streams = std::move(sorted);
  }

  /// A loop of several turns at once: sites side by side on each array.
  void runUnrolled() {
    unsigned core = anyCore(), first = anySite();
    uint64_t turns = random.oneOf<uint64_t>({2, 4, 4, 8});
    int64_t stride = int64_t(turns * 16) * (random.oneIn(4) ? -1 : 1);
    bool oneSite = random.oneIn(2); // for each array
    std::vector<Stream> streams;
    for (uint64_t count = 1 + random.below(3); count; --count) {
      uint64_t begin = anyArray() + random.below(4) * 1024;
      for (uint64_t turn = 0; turn < turns; ++turn)
        streams.push_back(
            {unsigned(first + (oneSite ? count : streams.size())) % siteCount,
             begin + turn * 16, stride});
    }
    if (random.oneIn(2)) // one turn after the other
      sortByTurn(streams, turns);
    uint64_t times = random.below(random.oneIn(4) ? 2000 : 200);
    for (uint64_t passes = 1 + random.below(3); passes; --passes)
      affine(core, streams, times);
  }

  /// Streams of one stride over some pages.
  void runLong() {
    unsigned core = anyCore();
    bool isSmall = whatIf.pageBytes[0] == 4096;
    int64_t stride = isSmall ? random.oneOf<int64_t>({8, 16, 24, 32, 64, -16})
                             : random.oneOf<int64_t>({48, 64, -64});
    std::vector<Stream> streams;
    for (uint64_t count = 1 + random.below(3); count; --count)
      streams.push_back(
          {anySite(), anyArray() + random.below(4) * 1024, stride});
    uint64_t pages = 4 + random.below(isSmall ? 12 : 3);
    if (isSmall && random.oneIn(3)) // until the caches after the first repeat
      pages *= 6;
    uint64_t bytes = pages * whatIf.pageBytes[0] + random.below(5000);
    affine(core, streams, bytes / uint64_t(stride > 0 ? stride : -stride));
  }

  /// Walks along columns beside streams that stay in a line for a while.
  void runColumns() {
    unsigned core = anyCore(), site = anySite();
    int64_t row = 16 * int64_t(8 + random.below(random.oneIn(2) ? 30 : 300));
    int64_t turns = random.oneOf<int64_t>({1, 1, 2, 4});
    uint64_t column = anyArray();
    std::vector<Stream> streams;
    for (uint64_t count = 1 + random.below(siteCount); count; --count) {
      bool stays = random.oneIn(2);
      uint64_t begin = stays ? anyArray() + random.below(4) * 1024 : column;
      int64_t stride =
          stays ? random.oneOf<int64_t>({0, 8, 8, 32}) : row * turns;
      streams.push_back({site++ % siteCount, begin, stride});
      column += stays ? 0 : uint64_t(row);
    }
    uint64_t times = random.below(200);
    for (uint64_t passes = 1 + random.below(3); passes; --passes)
      affine(core, streams, times);
  }

  /// Members at offsets that mostly ascend, on some addresses.
  std::vector<Bundle::Member> anyMembers(unsigned addresses) {
    std::vector<Bundle::Member> members;
    std::vector<uint64_t> offsets(addresses);
    uint64_t step = random.oneOf<uint64_t>({4, 8, 8, 16, 64, 128});
    for (uint64_t count = 1 + random.below(20); count; --count) {
      unsigned address = unsigned(random.below(addresses));
      addSite(random.oneIn(50) ? 64 : step);
      members.push_back({siteCount - 1, address, offsets[address]});
      offsets[address] += random.oneIn(12) ? -step : step;
    }
    return members;
  }

  void passBundle(unsigned core, Bundle &bundle,
                  const std::vector<Bundle::Member> &members,
                  const std::vector<uint64_t> &addresses) {
    fast.core(core).pass(bundle, addresses.data());
    for (const Bundle::Member &member : members)
      naive.access(core, member.site,
                   addresses[member.address] + member.offset);
    done += members.size();
  }

  /// A basic block, again and again, with other accesses now and then between.
  void runBundle() {
    if (++bundles > 6)
      return runGather();
    unsigned core = anyCore();
    std::vector<uint64_t> addresses, steps;
    uint64_t unit = random.oneOf<uint64_t>({1, 8, 16, 64});
    for (uint64_t count = 1 + random.below(4); count; --count) {
      addresses.push_back(anyArray() / unit * unit + random.below(4) * 1024);
      steps.push_back(random.oneOf<uint64_t>(
          {0, 0, 4, 8, 8, 16, 64, 120, 128, 256, 4096, uint64_t(-64)}));
    }
    unsigned others = siteCount;
    std::vector<Bundle::Member> members =
        anyMembers(unsigned(addresses.size()));
    Bundle bundle(members);
    bool isAlone = random.oneIn(2);
    std::vector<uint64_t> places; // that others go to again and again
    for (uint64_t count = random.below(4); count; --count)
      places.push_back(anyArray() + random.below(200000));
    for (uint64_t passes = random.below(400); passes; --passes) {
      passBundle(core, bundle, members, addresses);
      for (size_t at = 0; at < addresses.size(); ++at)
        addresses[at] +=
            random.oneIn(40) ? random.below(600) / unit * unit : steps[at];
      if (!isAlone && random.oneIn(places.empty() ? 6 : 2))
        for (uint64_t count = 1 + random.below(places.empty() ? 12 : 3); count;
             --count)
          access(random.oneIn(3) ? anyCore() : core,
                 unsigned(random.below(others)),
                 places.empty() ? anyArray() + random.below(200000)
                                : random.oneOf(places));
    }
    fast.core(core).settle(bundle);
  }

  /// for i: for j < i: rows of a triangular matrix and a vector
  void runTriangle() {
    unsigned core = anyCore(), matrix = anySite(), vector = anySite();
    uint64_t rows = random.below(30), pitch = 8 * (1 + random.below(128));
    uint64_t a = anyArray(), x = anyArray();
    for (uint64_t row = 0; row < rows; ++row)
      affine(core, {{matrix, a + row * pitch, 8}, {vector, x, 8}}, row);
  }

  /// Gather or scatter, as the site loads or stores.
  void runGather() {
    unsigned core = anyCore(), site = anySite();
    uint64_t base = anyArray(), span = uint64_t(1) << (9 + random.below(12));
    for (uint64_t count = random.below(400); count; --count)
      access(core, site, base + random.below(span) / 8 * 8);
  }

  /// A sparse matrix: streams with a gather between, on interleaved cores.
  void runMixed() {
    unsigned values = anySite(), x = anySite(), y = anySite();
    uint64_t a = anyArray(), b = anyArray(), c = anyArray();
    uint64_t band = 64 + random.below(5000);
    for (uint64_t row = 0; row < 40; ++row) {
      unsigned core = anyCore();
      for (uint64_t at = 0; at < 4; ++at) {
        access(core, values, a + (row * 4 + at) * 8);
        access(core, x, b + (row + random.below(band)) * 8);
      }
      access(core, y, c + row * 8);
    }
  }

  void runCopy() {
    unsigned core = anyCore();
    unsigned from = random.oneOf(plainSites), to = random.oneOf(plainSites);
    uint64_t source = anyArray(), target = anyArray() + random.below(4096);
    uint64_t bytes = random.below(3000);
    if (random.oneIn(2)) {
      fast.core(core).range(to, target, bytes);
      naive.copy(core, {{to, target, 64}}, bytes);
    } else {
      fast.core(core).copy(from, source, to, target, bytes);
      naive.copy(core, {{from, source, 64}, {to, target, 64}}, bytes);
    }
    done += bytes / 64 + 1;
  }

  Random &random;
  const WhatIf &whatIf;
  Model fast;
  NaiveModel naive;
  const Machine &machine;
  unsigned siteCount = 0, bundles = 0;
  std::vector<unsigned> plainSites; ///< that do not zero
  std::vector<uint64_t> arrays;
  uint64_t done = 0;
};
} // namespace

std::string mpg::sim::compareModels(uint64_t seed, uint64_t budget,
                                    uint64_t &accesses) {
  Random random(seed);
  bool isHeld = random.oneIn(3);
  Machine machine =
      isHeld ? machineOfSecondCache(random) : randomMachine(random);
  WhatIf whatIf = randomWhatIf(random, machine);
  Program program(random, machine, whatIf);
  if (isHeld)
    program.runHeld(4 * budget);
  accesses += program.run(isHeld ? 5 * budget : budget);
  return program.difference();
}
