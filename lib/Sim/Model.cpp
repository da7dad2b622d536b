// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shared parts of the cores: machine, sites, caches of a group; and the
// sums of their counts.

#include "Sim/Model.h"
#include "Sim/CoreParts.h"
#include <cassert>

using namespace mpg::sim;

CounterLayout::CounterLayout(const Machine &machine, const WhatIf &whatIf)
    : tlbLevels(unsigned(machine.tlbs.size())),
      cacheLevels(unsigned(machine.caches.size())),
      maps(unsigned(whatIf.mapSeeds.size())),
      limits(unsigned(whatIf.limits.size())) {
  unsigned pages = unsigned(whatIf.pageBytes.size());
  firstCacheBegin = 1 + pages * tlbLevels;
  chainBegin = firstCacheBegin + limits * kinds;
  chainSize =
      (cacheLevels - 1) * kinds + 1 + unsigned(whatIf.placements.size()) * 4;
  total = chainBegin + pages * maps * limits * chainSize;
}

Model::Model(const Machine &machine, const WhatIf &whatIf)
    : machine(machine), whatIf(whatIf), counters(machine, whatIf),
      lineBits(exactLog2(machine.lineBytes)) {
  for (unsigned counter = 0; counter < counters.size(); ++counter)
    countedIn.push_back(counter);
  for (unsigned limit = unsigned(whatIf.limits.size()); limit--;)
    for (unsigned other = limit; other < whatIf.limits.size(); ++other)
      if (whatIf.firstWays(limit) == whatIf.firstWays(other))
        for (Count kind :
             {Count::demandMisses, Count::prefetchMisses, Count::writeBacks})
          countedIn[counters.firstCache(other, kind)] =
              counters.firstCache(limit, kind);
  if (!whatIf.prefetch)
    this->machine.prefetchers.clear();
  for (size_t page = 0; page < whatIf.pageBytes.size(); ++page)
    for (PlacementPolicy policy : whatIf.placements)
      nodes.emplace_back(policy, machine.groups.count);
  sharedCaches.resize(sharedPlace(machine.groups.count, 0, 0, 0, 1));
  for (unsigned group : whatIf.groupOfCore)
    addCore(group);
}

void Model::addCore(unsigned group) {
  assert(group < machine.groups.count && "no such core group");
  cores.emplace_back(new Core(*this, group));
  for (const Site &site : sites)
    cores.back()->addSite(site);
}

Model::~Model() = default;

size_t Model::sharedPlace(unsigned group, unsigned page, unsigned map,
                          unsigned limit, unsigned level) const {
  size_t place = group * whatIf.pageBytes.size() + page;
  place = place * whatIf.mapSeeds.size() + map;
  place = place * whatIf.limits.size() + limit;
  return place * (machine.caches.size() - 1) + level - 1;
}

std::unique_ptr<CacheSets> Model::makeCache(unsigned level,
                                            unsigned limit) const {
  const std::vector<WayLimits> &limits = whatIf.limits[limit];
  return std::make_unique<CacheSets>(machine.caches[level], machine.lineBytes,
                                     level < limits.size() ? limits[level]
                                                           : WayLimits());
}

unsigned Model::addSite(const Site &site) {
  assert(site.bytes && site.bytes <= machine.lineBytes && site.sector < 4);
  sites.push_back(site);
  for (std::unique_ptr<Core> &core : cores)
    core->addSite(site);
  return unsigned(sites.size() - 1);
}

/// The caches after the first do what they were asked for.
void Model::answerAll() const {
  if (asking)
    asking->answer();
}

uint64_t Model::count(unsigned site, unsigned counter) const {
  answerAll();
  counter = countedIn[counter];
  uint64_t sum = 0;
  for (unsigned core = 0; core < cores.size(); ++core)
    sum += count(site, counter, core);
  return sum;
}

uint64_t Model::count(unsigned site, unsigned counter, unsigned core) const {
  return counter == counters.accesses()
             ? cores[core]->slots[site].accesses
             : cores[core]->counts[site * counters.size() + counter];
}

uint64_t Model::total(unsigned counter) const {
  uint64_t sum = 0;
  for (unsigned site = 0; site < sites.size(); ++site)
    sum += count(site, counter);
  return sum;
}

void Model::resetCounts() {
  answerAll();
  for (std::unique_ptr<Core> &core : cores) {
    core->counts.assign(core->counts.size(), 0);
    for (Core::Slot &slot : core->slots)
      slot.accesses = 0;
  }
}

uint64_t Model::steps() const {
  answerAll();
  uint64_t sum = 0;
  for (const std::unique_ptr<Core> &core : cores)
    sum += core->steps;
  return sum;
}
