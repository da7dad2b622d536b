// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One access, level by level.

#include "Sim/CoreParts.h"
#include <cassert>

using namespace mpg::sim;

Core::Core(Model &model, unsigned group) : model(model), group(group) {
  const WhatIf &whatIf = model.whatIf;
  for (uint64_t bytes : whatIf.pageBytes)
    addPages(bytes);
  for (unsigned limit = 0; limit < whatIf.limits.size(); ++limit)
    first.push_back(*model.makeCache(0, limit));
  const CacheLevel &level = model.machine.caches[0];
  uint64_t sets = level.bytes / level.ways / model.machine.lineBytes;
  assert((sets & (sets - 1)) == 0 && !level.hash.bits && !level.shared &&
         "the first cache is indexed by address bits");
  newest.assign(sets, noLine);
  for (unsigned page = 0; page < whatIf.pageBytes.size(); ++page)
    for (unsigned map = 0; map < whatIf.mapSeeds.size(); ++map)
      for (unsigned limit = 0; limit < whatIf.limits.size(); ++limit)
        addChain(page, map, limit);
}

void Core::addPages(uint64_t pageBytes) {
  Pages size = {log2Of(pageBytes / model.machine.lineBytes), noLine, {}};
  assert((pages.empty() || pages.back().shift < size.shift) && "ascending");
  unsigned number = unsigned(pages.size());
  for (unsigned level = 0; level < model.machine.tlbs.size(); ++level)
    if (const TlbArray *array = model.machine.tlbs[level].arrayFor(pageBytes))
      size.levels.emplace_back(*array, model.counters.tlbMisses(number, level));
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
    std::unique_ptr<SetAssociative> &cache =
        shared ? model.sharedCaches[model.sharedPlace(group, page, map, limit,
                                                      level)]
               : ownCaches.back();
    if (!cache)
      cache = model.makeCache(level, limit);
    chain.levels.push_back(cache.get());
  }
  chains.push_back(std::move(chain));
}

void Core::addSite() {
  counts.resize(counts.size() + model.counters.size());
  lastLines.push_back(noLine);
}

uint64_t *Core::row(unsigned site) {
  return &counts[site * model.counters.size()];
}

void Core::access(unsigned site, uint64_t address) {
  ++row(site)[model.counters.accesses()];
  touch(site, address, model.sites[site].bytes);
}

bool Core::touch(unsigned site, uint64_t address, unsigned bytes) {
  uint64_t line = address >> model.lineBits;
  uint64_t end = (address + bytes - 1) >> model.lineBits;
  bool same = touchLine(site, line);
  if (end != line)
    same &= touchLine(site, end);
  if (lastLines[site] != line && !model.machine.prefetchers.empty()) {
    uint64_t previous = lastLines[site];
    lastLines[site] = line;
    fetchAhead(site, line, previous);
    same = false;
  }
  return same;
}

bool Core::touchLine(unsigned site, uint64_t line) {
  bool same = lookUpPages(site, line);
  return lookUpFirst(site, line) && same;
}

/// The page that was used last is in every TLB, and the newest there: nothing
/// to do for it. Who is in the last small page is in the last large ones as
/// well.
bool Core::lookUpPages(unsigned site, uint64_t line) {
  bool same = true;
  for (Pages &size : pages) {
    uint64_t page = line >> size.shift;
    if (page == size.last)
      break;
    size.last = page;
    for (Pages::Level &level : size.levels) {
      if (level.access(page))
        break;
      ++row(site)[level.counter];
      same = false;
    }
  }
  return same;
}

/// The line that was used last in its set is there for every limit, and the
/// newest one: used alike once more it changes nothing.
bool Core::lookUpFirst(unsigned site, uint64_t line) {
  const Site &tags = model.sites[site];
  uint64_t key = line << 3 | uint64_t(tags.sector) << 1 | uint64_t(tags.store);
  uint64_t &newestKey = newest[line & (newest.size() - 1)];
  // A load behind a store of the line differs in the last bit alone.
  if (newestKey == key || newestKey == (key | 1))
    return true;
  newestKey = key;
  bool same = true;
  for (unsigned limit = 0; limit < first.size(); ++limit)
    same &= lookUpFirst(site, line, limit, Count::demandMisses);
  return same;
}

bool Core::lookUpFirst(unsigned site, uint64_t line, unsigned limit,
                       Count kind) {
  const Site &tags = model.sites[site];
  bool store = tags.store && kind == Count::demandMisses;
  SetAssociative::Outcome outcome =
      first[limit].access(line, line, tags.sector, store);
  if (outcome.hit)
    return true;
  ++row(site)[model.counters.firstCache(limit, kind)];
  if (outcome.evictedDirty) {
    ++row(site)[model.counters.firstCache(limit, Count::writeBacks)];
    for (size_t at = limit; at < chains.size(); at += first.size())
      writeBack(site, outcome.evicted, chains[at], 0);
  }
  for (size_t at = limit; at < chains.size(); at += first.size())
    fetch(site, line, chains[at], 0, kind);
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
    if ((target ^ line) >> pages.front().shift)
      continue;
    if (prefetcher.level) {
      for (Chain &chain : chains)
        fetch(site, target, chain, prefetcher.level - 1, Count::prefetchMisses);
      continue;
    }
    for (unsigned limit = 0; limit < first.size(); ++limit) {
      if (first[limit].contains(target, target))
        continue;
      newest[target & (newest.size() - 1)] = noLine;
      lookUpFirst(site, target, limit, Count::prefetchMisses);
    }
  }
}

/// \p level counts from the one behind the first cache.
void Core::fetch(unsigned site, uint64_t line, Chain &chain, unsigned level,
                 Count kind) {
  uint64_t index = chain.frames.physicalLine(line);
  for (; level < chain.levels.size(); ++level) {
    SetAssociative::Outcome outcome = chain.levels[level]->access(
        line, index, model.sites[site].sector, false);
    if (outcome.hit)
      return;
    uint64_t *counters = &row(site)[chain.counter + level * 3];
    ++counters[unsigned(kind)];
    if (outcome.evictedDirty) {
      ++counters[unsigned(Count::writeBacks)];
      writeBack(site, outcome.evicted, chain, level + 1);
    }
  }
  countMoved(site, line, chain, false);
}

void Core::writeBack(unsigned site, uint64_t line, Chain &chain,
                     unsigned level) {
  uint64_t index = chain.frames.physicalLine(line);
  for (; level < chain.levels.size(); ++level)
    if (chain.levels[level]->markDirty(line, index))
      return;
  ++row(site)[chain.memoryWrites];
  countMoved(site, line, chain, true);
}

void Core::countMoved(unsigned site, uint64_t line, const Chain &chain,
                      bool written) {
  unsigned placements = unsigned(model.whatIf.placements.size());
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
