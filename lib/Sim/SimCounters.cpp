// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where each counter of a site stands in its row.

#include "Sim/SimCounters.h"

using namespace mpg::sim;

CounterLayout::CounterLayout(const Machine &machine, const WhatIf &whatIf)
    : tlbLevels(unsigned(machine.tlbs.size())),
      cacheLevels(unsigned(machine.caches.size())),
      maps(unsigned(whatIf.mapSeeds.size())),
      limits(unsigned(whatIf.limits.size())),
      hopCounts(machine.groups.maxHops() + 1) {
  unsigned pages = unsigned(whatIf.pageBytes.size());
  firstCacheBegin = 1 + pages * tlbLevels;
  chainBegin = firstCacheBegin + limits * kinds;
  chainSize = (cacheLevels - 1) * kinds + 1 +
              unsigned(whatIf.placements.size()) * 2 * hopCounts;
  total = chainBegin + pages * maps * limits * chainSize;
}
