// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NaiveModel.h"
#include <algorithm>
#include <cstdlib>
#include <optional>

using namespace mpg::sim;

NaiveModel::NaiveModel(const Machine &machine, const WhatIf &whatIf)
    : machine(machine), whatIf(whatIf), layout(machine, whatIf) {}

void NaiveModel::addSite(const Site &site) { sites.push_back(site); }

uint64_t NaiveModel::count(unsigned site, unsigned counter) const {
  auto found = counts.find({site, counter});
  return found == counts.end() ? 0 : found->second;
}

std::vector<NaiveModel::View> NaiveModel::views() const {
  std::vector<View> all;
  for (unsigned page = 0; page < whatIf.pageBytes.size(); ++page)
    for (unsigned map = 0; map < whatIf.mapSeeds.size(); ++map)
      for (unsigned limit = 0; limit < whatIf.limits.size(); ++limit)
        all.push_back({page, map, limit});
  return all;
}

// One set-associative memory

NaiveModel::Memory NaiveModel::makeCache(const CacheLevel &level,
                                         unsigned lineBytes,
                                         const WayLimits &limits) {
  Memory memory;
  memory.sets = level.bytes / lineBytes / level.ways;
  memory.ways = level.usableWays ? level.usableWays : level.ways;
  memory.sectors = level.sectors;
  memory.replacement = level.replacement;
  memory.hitRelabels = level.hitRelabels;
  memory.hash = level.hash;
  memory.lineBytes = lineBytes;
  for (unsigned sector = 0; sector < 4; ++sector)
    memory.limits[sector] = limits[sector]
                                ? std::min<uint8_t>(limits[sector], memory.ways)
                                : uint8_t(memory.ways);
  return memory;
}

uint64_t NaiveModel::getSet(const Memory &memory, uint64_t index) const {
  uint64_t set = index;
  uint64_t address = index * memory.lineBytes;
  for (unsigned from : memory.hash.from)
    for (unsigned bit = 0; bit < memory.hash.bits; ++bit)
      set ^= ((address >> (from + bit)) & 1) << (memory.hash.at + bit);
  return set % memory.sets;
}

NaiveModel::Entry *NaiveModel::find(Memory &memory, uint64_t number,
                                    uint64_t index) {
  for (Entry &entry : memory.entries[getSet(memory, index)])
    if (entry.number == number)
      return &entry;
  return nullptr;
}

size_t NaiveModel::findVictim(const Memory &memory,
                              const std::vector<Entry> &set,
                              unsigned sector) const {
  auto held = [&](unsigned wanted) {
    return std::count_if(set.begin(), set.end(), [&](const Entry &entry) {
      return entry.sector == wanted;
    });
  };
  auto oldest = [&](auto isCandidate) {
    size_t best = set.size();
    for (size_t at = 0; at < set.size(); ++at) {
      auto age = [&](size_t place) {
        return memory.replacement == Replacement::lru ? set[place].used
                                                      : set[place].filled;
      };
      if (isCandidate(set[at]) && (best == set.size() || age(at) < age(best)))
        best = at;
    }
    return best;
  };
  size_t place = set.size();
  if (held(sector) >= memory.limits[sector])
    place = oldest([&](const Entry &entry) { return entry.sector == sector; });
  if (place == set.size())
    place = oldest([&](const Entry &entry) {
      return held(entry.sector) > memory.limits[entry.sector];
    });
  if (place == set.size())
    place = oldest([&](const Entry &entry) {
      return entry.sector != sector &&
             held(entry.sector) == memory.limits[entry.sector];
    });
  if (place == set.size())
    place = oldest([](const Entry &) { return true; });
  return place;
}

bool NaiveModel::access(Memory &memory, uint64_t number, uint64_t index,
                        unsigned sector, bool store, Entry &evicted) {
  ++now;
  evicted = {};
  sector %= memory.sectors;
  if (Entry *entry = find(memory, number, index)) {
    entry->used = now;
    entry->dirty |= store;
    if (memory.hitRelabels)
      entry->sector = sector;
    return true;
  }
  std::vector<Entry> &set = memory.entries[getSet(memory, index)];
  if (set.size() == memory.ways) {
    size_t place = findVictim(memory, set, sector);
    evicted = set[place];
    set.erase(set.begin() + long(place));
  }
  set.push_back({number, now, now, sector, store});
  return false;
}

// The hierarchy

uint64_t NaiveModel::physicalLine(const View &view, uint64_t line) const {
  uint64_t seed = whatIf.mapSeeds[view.map];
  if (seed == 0)
    return line;
  uint64_t pageBytes = whatIf.pageBytes[view.page];
  uint64_t address = line * machine.lineBytes;
  uint64_t value = address / pageBytes + seed * 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  value ^= value >> 31;
  uint64_t frames = (uint64_t(1) << machine.physicalBits) / pageBytes;
  uint64_t frame = frames ? value % frames : 0;
  return (frame * pageBytes + address % pageBytes) / machine.lineBytes;
}

NaiveModel::Memory &NaiveModel::cache(unsigned core, const View &view,
                                      unsigned level) {
  unsigned owner =
      machine.caches[level].shared ? whatIf.groupOfCore[core] : core;
  auto [place, isNew] =
      memories.try_emplace({1, owner, view.page, view.map, view.limit, level});
  const std::vector<WayLimits> &limits = whatIf.limits[view.limit];
  if (isNew)
    place->second =
        makeCache(machine.caches[level], machine.lineBytes,
                  level < limits.size() ? limits[level] : WayLimits());
  return place->second;
}

void NaiveModel::access(unsigned core, unsigned site, uint64_t address) {
  ++counts[{site, layout.accesses()}];
  touch(core, site, address, sites[site].bytes);
}

void NaiveModel::affine(unsigned core, const std::vector<Stream> &streams,
                        uint64_t times) {
  for (uint64_t at = 0; at < times; ++at)
    for (const Stream &stream : streams)
      access(core, stream.site, stream.begin + at * uint64_t(stream.stride));
}

void NaiveModel::copy(unsigned core, const std::vector<Stream> &streams,
                      uint64_t bytes) {
  for (uint64_t at = 0; at < bytes; at += 64)
    for (const Stream &stream : streams) {
      ++counts[{stream.site, layout.accesses()}];
      touch(core, stream.site, stream.begin + at,
            unsigned(std::min<uint64_t>(64, bytes - at)));
    }
}

void NaiveModel::touch(unsigned core, unsigned site, uint64_t address,
                       unsigned bytes) {
  uint64_t line = address / machine.lineBytes;
  uint64_t end = (address + bytes - 1) / machine.lineBytes;
  if (sites[site].zeroes)
    return zeroLine(core, site, line);
  if (sites[site].prefetches)
    return prefetchLine(core, site, line);
  touchLine(core, site, line);
  if (end != line)
    touchLine(core, site, end);
  auto previous = lastLines.find({core, site});
  if (previous != lastLines.end())
    fetchAhead(core, site, line, previous->second);
  lastLines[{core, site}] = line;
}

void NaiveModel::lookupPages(unsigned core, unsigned site, uint64_t line) {
  Entry evicted;
  for (unsigned page = 0; page < whatIf.pageBytes.size(); ++page) {
    uint64_t bytes = whatIf.pageBytes[page];
    uint64_t number = line * machine.lineBytes / bytes;
    for (unsigned level = 0; level < machine.tlbs.size(); ++level) {
      const TlbArray *array = machine.tlbs[level].arrayFor(bytes);
      if (!array)
        continue;
      Memory &tlb = memories[{0, core, page, level}];
      tlb.sets = array->entries / array->ways;
      tlb.ways = array->ways;
      tlb.limits.fill(uint8_t(array->ways));
      tlb.replacement = array->replacement;
      if (access(tlb, number, number, 0, false, evicted))
        break;
      ++counts[{site, layout.tlbMisses(page, level)}];
    }
  }
}

void NaiveModel::touchLine(unsigned core, unsigned site, uint64_t line) {
  lookupPages(core, site, line);
  for (unsigned limit = 0; limit < whatIf.limits.size(); ++limit)
    touchFirst(core, site, line, limit, Count::demandMisses);
}

void NaiveModel::zeroLine(unsigned core, unsigned site, uint64_t line) {
  lookupPages(core, site, line);
  for (const View &view : views()) {
    if (machine.caches.size() == 1) {
      writeBack(core, site, line, view, 1);
      continue;
    }
    Entry evicted;
    access(cache(core, view, 1), line, physicalLine(view, line),
           sites[site].sector, true, evicted);
    if (!evicted.dirty)
      continue;
    ++counts[{site, layout.cache(view.page, view.map, view.limit, 1,
                                 Count::writeBacks)}];
    writeBack(core, site, evicted.number, view, 2);
  }
}

void NaiveModel::prefetchLine(unsigned core, unsigned site, uint64_t line) {
  lookupPages(core, site, line);
  if (sites[site].prefetches == 1) {
    for (unsigned limit = 0; limit < whatIf.limits.size(); ++limit)
      touchFirst(core, site, line, limit, Count::prefetchMisses);
    return;
  }
  if (machine.caches.size() > 1)
    for (const View &view : views())
      fetch(core, site, line, view, 1, Count::prefetchMisses);
}

void NaiveModel::touchFirst(unsigned core, unsigned site, uint64_t line,
                            unsigned limit, Count kind) {
  Memory &memory = cache(core, {0, 0, limit}, 0);
  bool prefetch = kind == Count::prefetchMisses;
  if (prefetch && find(memory, line, line))
    return;
  Entry evicted;
  if (access(memory, line, line, sites[site].sector,
             sites[site].store && !prefetch, evicted))
    return;
  ++counts[{site, layout.firstCache(limit, kind)}];
  if (evicted.dirty)
    ++counts[{site, layout.firstCache(limit, Count::writeBacks)}];
  for (const View &view : views())
    if (view.limit == limit) {
      if (evicted.dirty)
        writeBack(core, site, evicted.number, view, 1);
      fetch(core, site, line, view, 1, kind);
    }
  if (!sites[site].prefetches)
    followMisses(core, site, line, limit);
}

/// The second cache's prefetcher: the first cache missed \p line. Ages and
/// distances are as docs/sim.md has them.
void NaiveModel::followMisses(unsigned core, unsigned site, uint64_t line,
                              unsigned limit) {
  int64_t firstAhead = 0;
  const Prefetcher *next = nullptr;
  for (const Prefetcher &prefetcher : machine.prefetchers)
    if (prefetcher.level == 1)
      next = &prefetcher;
    else
      firstAhead = prefetcher.linesAhead;
  if (!whatIf.prefetch || !next)
    return;
  Misses &seen = misses[{core, limit}];
  ++seen.count;
  std::list<MissStream> &streams = seen.streams; // the newest first
  auto mine = std::find_if(
      streams.begin(), streams.end(), [&](const MissStream &stream) {
        return std::abs(int64_t(line) - int64_t(stream.front)) <= 8;
      });
  MissStream stream = {line, 0, 0, 0};
  bool isNew = mine == streams.end();
  if (!isNew) {
    stream = *mine;
    streams.erase(mine);
  }
  std::optional<MissStream> ended;
  bool isFull = isNew && streams.size() == next->streams;
  if (!streams.empty() && (isFull || seen.count - streams.back().last >= 256)) {
    ended = streams.back();
    streams.pop_back();
  }
  int64_t max = std::max(int64_t(next->linesAhead), firstAhead);
  int64_t way = int64_t(line - stream.front);
  if (!stream.steps || (way < 0) == (stream.steps < 0)) {
    stream.front = line;
    stream.steps = std::max(-max, std::min(max, stream.steps + way));
  }
  stream.last = seen.count;
  stream.site = site;
  streams.push_front(stream);
  if (ended)
    fetchBeyond(core, *ended, limit, firstAhead);
}

void NaiveModel::fetchBeyond(unsigned core, const MissStream &ended,
                             unsigned limit, int64_t firstAhead) {
  uint64_t pageLines = whatIf.pageBytes[0] / machine.lineBytes;
  for (int64_t at = 1; at <= std::abs(ended.steps) - firstAhead; ++at) {
    uint64_t line = ended.front + uint64_t(ended.steps < 0 ? -at : at);
    if (line / pageLines != ended.front / pageLines)
      return;
    for (const View &view : views())
      if (view.limit == limit)
        fetch(core, ended.site, line, view, 1, Count::prefetchMisses);
  }
}

void NaiveModel::fetchAhead(unsigned core, unsigned site, uint64_t line,
                            uint64_t previous) {
  if (!whatIf.prefetch || (line != previous + 1 && line + 1 != previous))
    return;
  for (const Prefetcher &prefetcher : machine.prefetchers) {
    if (prefetcher.level)
      continue;
    uint64_t target = line > previous ? line + prefetcher.linesAhead
                                      : line - prefetcher.linesAhead;
    uint64_t pageLines = whatIf.pageBytes[0] / machine.lineBytes;
    if (target / pageLines != line / pageLines)
      continue;
    for (unsigned limit = 0; limit < whatIf.limits.size(); ++limit)
      touchFirst(core, site, target, limit, Count::prefetchMisses);
  }
}

void NaiveModel::fetch(unsigned core, unsigned site, uint64_t line,
                       const View &view, unsigned level, Count kind) {
  for (; level < machine.caches.size(); ++level) {
    Entry evicted;
    if (access(cache(core, view, level), line, physicalLine(view, line),
               sites[site].sector, false, evicted))
      return;
    ++counts[{site,
              layout.cache(view.page, view.map, view.limit, level, kind)}];
    if (!evicted.dirty)
      continue;
    ++counts[{site, layout.cache(view.page, view.map, view.limit, level,
                                 Count::writeBacks)}];
    writeBack(core, site, evicted.number, view, level + 1);
  }
  countMoved(core, site, line, view, false);
}

void NaiveModel::writeBack(unsigned core, unsigned site, uint64_t line,
                           const View &view, unsigned level) {
  for (; level < machine.caches.size(); ++level)
    if (Entry *entry =
            find(cache(core, view, level), line, physicalLine(view, line))) {
      entry->dirty = true;
      return;
    }
  ++counts[{site, layout.memoryWrites(view.page, view.map, view.limit)}];
  countMoved(core, site, line, view, true);
}

void NaiveModel::countMoved(unsigned core, unsigned site, uint64_t line,
                            const View &view, bool written) {
  uint64_t page = line * machine.lineBytes / whatIf.pageBytes[view.page];
  unsigned group = whatIf.groupOfCore[core];
  for (unsigned at = 0; at < whatIf.placements.size(); ++at) {
    unsigned owner = 0;
    if (whatIf.placements[at] == PlacementPolicy::interleave)
      owner = unsigned(page % machine.groups.count);
    else if (whatIf.placements[at] == PlacementPolicy::firstTouch)
      owner =
          firstTouchers.try_emplace({view.page, at, page}, group).first->second;
    ++counts[{site, layout.moved(view.page, view.map, view.limit, at,
                                 owner != group, written)}];
  }
}
