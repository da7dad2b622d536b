// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One access, level by level.

#include "Sim/CoreParts.h"
#include <cassert>

using namespace mpg::sim;

Core::Core(Model &model, unsigned group)
    : model(model), group(group), lineBits(model.lineBits),
      prefetches(!model.machine.prefetchers.empty()) {
  const WhatIf &whatIf = model.whatIf;
  for (uint64_t bytes : whatIf.pageBytes)
    addPages(bytes);
  pageShift = pages.front().shift;
  for (unsigned limit = 0; limit < whatIf.limits.size(); ++limit)
    addFirst(limit);
  for (const First &one : first)
    canSettle &= one.cache.isPlainLru();
  for (const Prefetcher &prefetcher : model.machine.prefetchers)
    canSettle &= prefetcher.level != 0;
  const CacheLevel &level = model.machine.caches[0];
  uint64_t sets = level.bytes / level.ways / model.machine.lineBytes;
  assert((sets & (sets - 1)) == 0 && !level.hash.bits && !level.shared &&
         "the first cache is indexed by address bits");
  newest.assign(sets, noLine);
  for (unsigned page = 0; page < whatIf.pageBytes.size(); ++page)
    for (unsigned map = 0; map < whatIf.mapSeeds.size(); ++map)
      for (unsigned limit = 0; limit < whatIf.limits.size(); ++limit)
        addChain(page, map, limit);
  size_t limits = whatIf.limits.size();
  for (First &one : first)
    for (unsigned limit : one.limits)
      for (size_t at = limit; at < chains.size(); at += limits)
        one.chains.push_back(&chains[at]);
}

void Core::addFirst(unsigned limit) {
  const std::vector<WayLimits> &limits = model.whatIf.limits[limit];
  WayLimits ways = limits.empty() ? WayLimits() : limits[0];
  for (First &one : first)
    if (one.ways == ways)
      return one.limits.push_back(limit);
  first.push_back({*model.makeCache(0, limit), ways, {limit}, {}});
}

void Core::addPages(uint64_t pageBytes) {
  Pages size = {log2Of(pageBytes / model.machine.lineBytes), noLine, {}};
  assert((pages.empty() || pages.back().shift < size.shift) && "ascending");
  unsigned number = unsigned(pages.size());
  for (unsigned level = 0; level < model.machine.tlbs.size(); ++level)
    if (const TlbArray *array = model.machine.tlbs[level].arrayFor(pageBytes))
      size.levels.emplace_back(*array, model.counters.tlbMisses(number, level));
  tlbHitsLeaveState &= size.hitsLeaveState();
  pages.push_back(std::move(size));
}

void Core::addChain(unsigned page, unsigned map, unsigned limit) {
  const Machine &machine = model.machine;
  uint64_t pageBytes = model.whatIf.pageBytes[page];
  uint64_t frames = (uint64_t(1) << machine.physicalBits) / pageBytes;
  Chain chain = {page,
                 model.counters.chain(page, map, limit),
                 model.counters.memoryWrites(page, map, limit),
                 PageFrames(model.whatIf.mapSeeds[map],
                            pageBytes / machine.lineBytes, frames ? frames : 1),
                 {}};
  for (unsigned level = 1; level < machine.caches.size(); ++level) {
    bool shared = machine.caches[level].shared;
    if (!shared)
      ownCaches.emplace_back();
    std::unique_ptr<CacheSets> &cache =
        shared ? model.sharedCaches[model.sharedPlace(group, page, map, limit,
                                                      level)]
               : ownCaches.back();
    if (!cache)
      cache = model.makeCache(level, limit);
    chain.levels.push_back(cache.get());
  }
  if (!chain.levels.empty())
    chain.frames.use(*chain.levels[0]);
  chains.push_back(std::move(chain));
}

void Core::addSite(const Site &site) {
  counts.resize(counts.size() + model.counters.size());
  slots.emplace_back(site);
}

uint64_t *Core::row(unsigned site) {
  return &counts[site * model.counters.size()];
}

void Core::access(unsigned site, uint64_t address) {
  Slot &slot = slots[site];
  ++slot.accesses;
  touch(site, address >> lineBits, (address + slot.bytes - 1) >> lineBits);
}

bool Core::touchOther(unsigned site, uint64_t line, uint64_t end) {
  bool same = touchLine(site, line);
  if (end != line) {
    same &= touchLine(site, end);
    slots[site].pageChanges = 0; // the second page may have displaced the first
  }
  uint64_t previous = slots[site].line;
  if (line == previous)
    return same;
  slots[site].line = line;
  if (!prefetches)
    return same;
  fetchAhead(site, line, previous);
  return false;
}

bool Core::touchLine(unsigned site, uint64_t line) {
  bool same = lookUpPages(site, line);
  return lookUpFirst(site, line) && same;
}

/// A page that the site used before is in every TLB as long as none has
/// changed. So is the page that was used last, and it is the newest there. Who
/// is in the last small page is in the last large ones as well.
bool Core::lookUpPages(unsigned site, uint64_t line) {
  Slot &slot = slots[site];
  if (slot.pageChanges == pageChanges &&
      (slot.pageLine ^ line) >> pageShift == 0)
    return true;
  bool same = true;
  for (Pages &size : pages) {
    uint64_t page = line >> size.shift;
    if (page == size.last)
      break;
    size.last = page;
    pageChanges += !tlbHitsLeaveState;
    for (Pages::Level &level : size.levels) {
      if (level.access(page))
        break;
      ++row(site)[level.counter];
      ++pageChanges;
      same = false;
    }
  }
  slot.pageLine = line;
  slot.pageChanges = pageChanges;
  return same;
}

/// The line that was used last in its set is there for every limit, and the
/// newest one: used alike once more it changes nothing.
bool Core::lookUpFirst(unsigned site, uint64_t line) {
  const Slot &slot = slots[site];
  uint64_t key = line << 3 | slot.key;
  uint64_t &newestKey = newest[line & (newest.size() - 1)];
  // A load behind a store of the line differs in the last bit alone.
  if ((newestKey & slot.keyMask) == key)
    return true;
  newestKey = key;
  bool same = true;
  for (First &one : first)
    same &= lookUpFirst(site, line, one, Count::demandMisses);
  return same;
}

bool Core::lookUpFirst(unsigned site, uint64_t line, First &one, Count kind) {
  const Slot &slot = slots[site];
  bool store = slot.store && kind == Count::demandMisses;
  CacheSets::Outcome outcome =
      one.cache.access(line, line & (newest.size() - 1), slot.sector, store);
  if (outcome.hit)
    return true;
  uint64_t *counters = row(site);
  for (unsigned limit : one.limits) {
    ++counters[model.counters.firstCache(limit, kind)];
    counters[model.counters.firstCache(limit, Count::writeBacks)] +=
        outcome.evictedDirty;
  }
  if (outcome.evicted && collectsEvicted)
    evicted.push_back(outcome.line);
  for (Chain *chain : one.chains) {
    if (outcome.evictedDirty)
      writeBack(site, outcome.line, *chain, 0);
    fetch(site, line, *chain, 0, kind);
  }
  return false;
}

/// \p previous is the line of the site's last access. Nothing is fetched across
/// a border of the smallest pages: a prefetch stops where a TLB may miss.
/// HW:a64fx-prefetch-tlb
void Core::fetchAhead(unsigned site, uint64_t line, uint64_t previous) {
  if (previous == noLine || (line != previous + 1 && line + 1 != previous))
    return;
  for (const Prefetcher &prefetcher : model.machine.prefetchers) {
    uint64_t target = line > previous ? line + prefetcher.linesAhead
                                      : line - prefetcher.linesAhead;
    if ((target ^ line) >> pageShift)
      continue;
    if (prefetcher.level) {
      for (Chain &chain : chains)
        fetch(site, target, chain, prefetcher.level - 1, Count::prefetchMisses);
      continue;
    }
    for (First &one : first) {
      if (one.cache.contains(target, target & (newest.size() - 1)))
        continue;
      newest[target & (newest.size() - 1)] = noLine;
      lookUpFirst(site, target, one, Count::prefetchMisses);
    }
  }
}

/// \p level counts from the one behind the first cache.
void Core::fetch(unsigned site, uint64_t line, Chain &chain, unsigned level,
                 Count kind) {
  for (; level < chain.levels.size(); ++level) {
    CacheSets::Outcome outcome = chain.levels[level]->access(
        line, chain.setOf(line, level), slots[site].sector, false);
    if (outcome.hit)
      return;
    uint64_t *counters = &row(site)[chain.counter + level * 3];
    ++counters[unsigned(kind)];
    if (outcome.evictedDirty) {
      ++counters[unsigned(Count::writeBacks)];
      writeBack(site, outcome.line, chain, level + 1);
    }
  }
  countMoved(site, line, chain, false);
}

void Core::writeBack(unsigned site, uint64_t line, Chain &chain,
                     unsigned level) {
  for (; level < chain.levels.size(); ++level)
    if (chain.levels[level]->markDirty(line, chain.setOf(line, level)))
      return;
  ++row(site)[chain.memoryWrites];
  countMoved(site, line, chain, true);
}

void Core::countMoved(unsigned site, uint64_t line, const Chain &chain,
                      bool written) {
  unsigned placements = unsigned(model.whatIf.placements.size());
  if (!placements)
    return;
  const CoreGroups &groups = model.machine.groups;
  uint64_t page = line >> pages[chain.page].shift;
  unsigned hopCounts = groups.maxHops() + 1;
  unsigned counter = chain.memoryWrites + 1 + unsigned(written) * hopCounts;
  for (unsigned placement = 0; placement < placements; ++placement) {
    PageNodes &nodes = model.nodes[chain.page * placements + placement];
    ++row(site)[counter + groups.hops(group, nodes.groupOf(page, group))];
    counter += 2 * hopCounts;
  }
}
