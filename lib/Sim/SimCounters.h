// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is simulated side by side in one pass, and the counters of it. Each site
// has one row of counters; this says which is where.

#ifndef MPG_SIM_SIMCOUNTERS_H
#define MPG_SIM_SIMCOUNTERS_H

#include "Sim/CacheSets.h"
#include "Sim/PageNodes.h"
#include "Sim/SimMachine.h"

namespace mpg::sim {

/// What-ifs. Every page size is simulated with every map and every limit.
struct WhatIf {
  std::vector<uint64_t> pageBytes;
  /// Maps of physical pages. 0: virtual = physical. None: caches behind the
  /// first are left out.
  std::vector<uint64_t> mapSeeds = {0};
  /// Ways that sectors may fill, for each cache level; a level that is not
  /// there is not divided.
  std::vector<std::vector<WayLimits>> limits = {{}};
  std::vector<PlacementPolicy> placements;
  bool prefetch = true;
  /// The core group of each core.
  std::vector<unsigned> groupOfCore = {0};

  WayLimits firstWays(unsigned limit) const {
    return limits[limit].empty() ? WayLimits() : limits[limit][0];
  }
};

enum class Count : uint8_t { demandMisses, prefetchMisses, writeBacks };

/// Places of counters in a row. Arguments are positions in WhatIf's lists, and
/// levels of the machine.
class CounterLayout {
public:
  CounterLayout(const Machine &machine, const WhatIf &whatIf);

  unsigned accesses() const { return 0; }
  unsigned tlbMisses(unsigned page, unsigned level) const {
    return 1 + page * tlbLevels + level;
  }
  unsigned firstCache(unsigned limit, Count what) const {
    return firstCacheBegin + limit * kinds + unsigned(what);
  }
  /// \p level is 1 or more.
  unsigned cache(unsigned page, unsigned map, unsigned limit, unsigned level,
                 Count what) const {
    return chain(page, map, limit) + (level - 1) * kinds + unsigned(what);
  }
  /// Lines written to memory.
  unsigned memoryWrites(unsigned page, unsigned map, unsigned limit) const {
    return chain(page, map, limit) + (cacheLevels - 1) * kinds;
  }
  /// Lines that come from the memory of a group \p hops away, or are written
  /// there.
  unsigned moved(unsigned page, unsigned map, unsigned limit,
                 unsigned placement, unsigned hops, bool written) const {
    return memoryWrites(page, map, limit) + 1 +
           (placement * 2 + unsigned(written)) * hopCounts + hops;
  }
  /// The first counter of one page size, map and limit.
  unsigned chain(unsigned page, unsigned map, unsigned limit) const {
    return chainBegin + ((page * maps + map) * limits + limit) * chainSize;
  }
  unsigned size() const { return total; }

private:
  static constexpr unsigned kinds = 3;
  unsigned tlbLevels, cacheLevels, maps, limits, hopCounts;
  unsigned firstCacheBegin, chainBegin, chainSize, total;
};

} // namespace mpg::sim

#endif // MPG_SIM_SIMCOUNTERS_H
