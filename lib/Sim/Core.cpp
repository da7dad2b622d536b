// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One access, level by level.
//
// Nothing that the caches after the first do comes back to it or to the TLBs.
// So they are not asked at once: requests are collected, and each chain of
// caches takes them all, one chain after the other. Its code, counters and
// frames stay in the host's caches, and while it does one request the host
// fetches the sets of the next ones. No chain sees another; each sees its
// requests in their order; and a core whose group shares a cache with others
// waits until theirs are answered. So the counts are the same.

#include "Sim/CoreParts.h"
#include <algorithm>
#include <cassert>

using namespace mpg::sim;

/// Without lines ahead if the cache of \p level has none.
static Prefetcher getPrefetcher(const Machine &machine, unsigned level) {
  for (const Prefetcher &prefetcher : machine.prefetchers)
    if (prefetcher.level == level)
      return prefetcher;
  return {};
}

Core::Core(Model &model, unsigned group)
    : model(model), group(group), lineBits(model.lineBits),
      linesAhead(getPrefetcher(model.machine, 0).linesAhead) {
  const WhatIf &whatIf = model.whatIf;
  for (uint64_t bytes : whatIf.pageBytes)
    addPages(bytes);
  pageShift = pages.front().shift;
  for (unsigned limit = 0; limit < whatIf.limits.size(); ++limit)
    addFirst(limit);
  for (const First &one : first)
    canSettle &= one.cache.isPlainLru();
  const CacheLevel &level = model.machine.caches[0];
  uint64_t sets = level.bytes / level.ways / model.machine.lineBytes;
  assert((sets & (sets - 1)) == 0 && !level.hash.bits && !level.shared &&
         "the first cache is indexed by address bits");
  looked.resize(sets);
  firstMask = sets - 1;
  canFollow = !linesAhead || (linesAhead & firstMask) != 0;
  for (unsigned page = 0; page < whatIf.pageBytes.size(); ++page)
    for (unsigned map = 0; map < whatIf.mapSeeds.size(); ++map)
      for (unsigned limit = 0; limit < whatIf.limits.size(); ++limit)
        addChain(page, map, limit);
  for (size_t at = 0; at < chains.size(); ++at)
    getFirst(unsigned(at % whatIf.limits.size())).chains.push_back(&chains[at]);
}

Core::First &Core::getFirst(unsigned limit) {
  return *std::find_if(first.begin(), first.end(), [&](const First &one) {
    return one.ways == model.whatIf.firstWays(limit);
  });
}

/// As many as HeldLines has to know, 2^15 at most.
static uint64_t linesAfterFirst(const Machine &machine) {
  uint64_t max = 1 << 15;
  return machine.caches.size() > 1
             ? std::min(max, machine.caches[1].bytes / machine.lineBytes)
             : 1;
}

void Core::addFirst(unsigned limit) {
  WayLimits ways = model.whatIf.firstWays(limit);
  for (First &one : first)
    if (one.ways == ways)
      return;
  First one = {std::move(*model.makeCache(0, limit)),
               ways,
               model.counters.firstCache(limit, Count::demandMisses),
               {},
               {},
               {},
               {},
               HeldLines(linesAfterFirst(model.machine))};
  first.push_back(std::move(one));
  first.back().requests.reserve(First::maxRequests);
  if (Prefetcher next = getPrefetcher(model.machine, 1); next.linesAhead)
    first.back().queue = PrefetchQueue(next, linesAhead);
}

void Core::addPages(uint64_t pageBytes) {
  Pages size = {exactLog2(pageBytes / model.machine.lineBytes), noLine, 1, {}};
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
                 {},
                 0};
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
  // As blocks of the smallest pages, so that all chains have the same ones.
  uint64_t lines = model.whatIf.pageBytes[0] / machine.lineBytes;
  if (chain.levels.size() == 1 &&
      (chain.blockBits = chain.levels[0]->blockBitsIn(lines)))
    chain.levels[0]->keepBlocks(chain.blockBits);
  chains.push_back(std::move(chain));
}

void Core::addSite(const Site &site) {
  slots.emplace_back(site, unsigned(counts.size()));
  counts.resize(counts.size() + model.counters.size());
}

inline void Core::countMoved(const Request &request, const Chain &chain,
                             bool written, unsigned lines) {
  unsigned placements = unsigned(model.whatIf.placements.size());
  if (!placements)
    return;
  uint64_t page = request.line >> pages[chain.page].shift;
  unsigned counter = chain.memoryWrites + 1 + unsigned(written) * 2;
  for (unsigned placement = 0; placement < placements; ++placement) {
    PageNodes &nodes = model.nodes[chain.page * placements + placement];
    bool isRemote = nodes.getGroup(page, group) != group;
    counts[request.row + counter + unsigned(isRemote)] += lines;
    counter += 4;
  }
}

/// A line comes from memory, or is written there; and as many after it.
inline void Core::useMemory(const Request &request, const Chain &chain,
                            unsigned lines) {
  bool written = request.kind == Count::writeBacks;
  counts[request.row + chain.memoryWrites] += written ? lines : 0;
  countMoved(request, chain, written, lines);
}

/// The line that made room for it is written.
inline Core::Request Core::evictedBy(const Request &request, uint64_t result) {
  return {CacheSets::evictedLine(result),
          request.row,
          0,
          request.sector,
          Count::writeBacks,
          request.isBeyond};
}

/// \p lines on one page that \p chain, one cache, does not have.
void Core::countMisses(const Request &request, Chain &chain, uint64_t result,
                       unsigned lines) {
  if (request.kind != Count::writeBacks) {
    uint64_t *counters = &counts[request.row + chain.counter];
    counters[unsigned(request.kind)] += request.isZero ? 0 : lines;
    if (CacheSets::isDirtyEvicted(result)) {
      counters[unsigned(Count::writeBacks)] += lines;
      useMemory(evictedBy(request, result), chain, lines);
    }
  }
  if (!request.isZero)
    useMemory(request, chain, lines);
}

/// Answers the requests to the caches of \p level, in order. Misses go to \p
/// next, or to memory after the last of them. \p held gets the lines that the
/// cache evicts. \returns how many misses.
size_t Core::answer(Chain &chain, unsigned level,
                    const std::vector<Request> &requests,
                    std::vector<Request> &next, HeldLines *held) {
  constexpr size_t batch = 128;
  std::array<CacheSets::Use, batch> uses;
  std::array<uint64_t, batch> results;
  CacheSets &cache = *chain.levels[level];
  bool isLast = level + 1 == chain.levels.size();
  size_t misses = 0;
  auto goOn = [&](const Request &request) {
    if (isLast)
      useMemory(request, chain, 1);
    else
      next.push_back(request);
  };
  for (size_t begin = 0; begin < requests.size();) {
    const Request *first = &requests[begin];
    if (first->level > level) {
      goOn(*first);
      ++begin;
      continue;
    }
    size_t count = 0, max = std::min(batch, requests.size() - begin);
    for (; count < max && first[count].level <= level; ++count) {
      const Request &request = first[count];
      uses[count] = {request.kind == Count::writeBacks
                         ? CacheSets::packChange(request.line)
                         : cache.getLoad(request.line, request.sector),
                     chain.getSet(request.line, level)};
    }
    cache.run(uses.data(), count, results.data());
    for (size_t at = 0; at < count; ++at) {
      if (!CacheSets::isMiss(results[at]))
        continue;
      const Request &request = first[at];
      ++misses;
      uint64_t *counters = &counts[request.row + chain.counter + level * 3];
      // A line that is written back takes no place here: it goes past.
      bool takesPlace = request.kind != Count::writeBacks;
      if (takesPlace && !request.isZero)
        ++counters[unsigned(request.kind)];
      if (takesPlace && held)
        held->drop(CacheSets::evictedLine(results[at]));
      if (takesPlace && CacheSets::isDirtyEvicted(results[at])) {
        ++counters[unsigned(Count::writeBacks)];
        goOn(evictedBy(request, results[at]));
      }
      if (!request.isZero)
        goOn(request);
    }
    begin += count;
  }
  return misses;
}

/// \returns how many misses the first of its caches has.
size_t Core::answer(Chain &chain, const std::vector<Request> &requests,
                    HeldLines *held) {
  const std::vector<Request> *asked = &requests;
  size_t misses = requests.size();
  steps += requests.size();
  for (unsigned level = 0; level < chain.levels.size(); ++level) {
    std::vector<Request> &next = passedOn[level & 1];
    next.clear();
    size_t its = answer(chain, level, *asked, next, level ? nullptr : held);
    misses = level ? misses : its;
    asked = &next;
  }
  if (chain.levels.empty())
    for (const Request &request : *asked)
      useMemory(request, chain, 1);
  return misses;
}

/// Lines are held only while holding is on, so what is known of them is true.
void Core::setHolding(First &one, bool isOn) {
  one.isHolding = isOn;
  if (!isOn)
    one.held.clear();
}

void Core::answer(First &one) {
  constexpr size_t fewest = 8; // requests a miss: else few lines stay held
  if (one.requests.empty())
    return;
  HeldLines *held = one.isHolding ? &one.held : nullptr;
  if (held)
    for (const Request &request : one.requests)
      if (!request.level && request.kind != Count::writeBacks)
        held->add(request.line);
  size_t misses = 0;
  for (Chain *chain : one.chains)
    misses = std::max(misses, answer(*chain, one.requests, held));
  setHolding(one, misses * fewest <= one.requests.size());
  one.requests.clear();
}

void Core::answer() {
  for (First &one : first)
    answer(one);
}

/// The caches may change in another way from now on.
void Core::letGo(First &one) {
  if (one.requests.empty())
    settleHeld(one);
  answer(one);
  setHolding(one, false);
}

void Core::letGo() {
  for (First &one : first)
    letGo(one);
}

void Core::settleHeld(First &one) {
  one.held.settle([&](uint64_t line, unsigned sector, bool isChange) {
    one.requests.emplace_back(line, 0, 0, uint8_t(sector),
                              isChange ? Count::writeBacks
                                       : Count::demandMisses);
  });
}

__attribute__((always_inline)) inline void
Core::addRequest(First &one, const Request &wanted) {
  request(one, wanted);
  if (isLogging)
    append(one.log, wanted);
}

/// Fetches the lines beyond the end of a stream, up to the end of the page.
void Core::fetchBeyond(First &one, const PrefetchQueue::Beyond &beyond) {
  uint64_t line = beyond.line;
  for (unsigned at = 0; at < beyond.count; ++at) {
    line += uint64_t(beyond.way);
    if ((line ^ beyond.line) >> pageShift)
      return;
    addRequest(
        one, {line, beyond.row, 0, beyond.sector, Count::prefetchMisses, true});
  }
}

inline void Core::missFirst(const Slot &slot, uint64_t line, First &one,
                            Count kind, const CacheSets::Outcome &outcome) {
  looked[line & firstMask].ahead = noLine;
  uint64_t *counters = &counts[slot.row + one.counter];
  ++counters[unsigned(kind)];
  if (outcome.evicted && collectsEvicted)
    evicted.push_back(outcome.line);
  if (outcome.evictedDirty) {
    ++counters[unsigned(Count::writeBacks)];
    addRequest(one,
               {outcome.line, slot.row, 0, slot.sector, Count::writeBacks});
  }
  addRequest(one, {line, slot.row, 0, slot.sector, kind});
  if (one.queue.isOn() && !slot.prefetches)
    fetchBeyond(one, one.queue.see(line, slot.row, slot.sector));
}

__attribute__((always_inline)) inline bool Core::lookupFirst(const Slot &slot,
                                                             uint64_t line) {
  uint64_t set = line & firstMask;
  looked[set].newest = line << 3 | slot.key;
  bool same = true;
  for (First &one : first) {
    CacheSets::Outcome outcome =
        one.cache.access(line, set, slot.sector, slot.store);
    if (outcome.hit)
      continue;
    missFirst(slot, line, one, Count::demandMisses, outcome);
    same = false;
  }
  return same;
}

/// Fetches \p line into the first caches that lack it. \returns whether none
/// does.
bool Core::insertFirst(const Slot &slot, uint64_t line) {
  uint64_t set = line & firstMask;
  bool same = true;
  for (First &one : first) {
    CacheSets::Outcome outcome = one.cache.insert(line, set, slot.sector);
    if (outcome.hit)
      continue;
    looked[set].newest = noLine;
    filledSets |= uint64_t(1) << (set & 63);
    missFirst(slot, line, one, Count::prefetchMisses, outcome);
    same = false;
  }
  return same;
}

/// If several sites walk along the same lines, only the first finds something
/// to fetch. Fetches nothing across a border of the smallest pages: a TLB miss
/// stops A64FX's prefetch (Manual, page 71: read).
void Core::fetchFirst(const Slot &slot, uint64_t line) {
  uint64_t set = line & firstMask;
  if (looked[set].ahead == line)
    return;
  insertFirst(slot, line);
  looked[set].ahead = line;
}

/// To a line that is newest now; the prefetcher sees it.
inline bool Core::follow(Slot &slot, uint64_t line) {
  uint64_t previous = slot.line;
  slot.line = line;
  uint64_t target = previous == noLine ? noLine : computeAhead(line, previous);
  if (target != noLine)
    fetchFirst(slot, target);
  return !linesAhead;
}

/// The page that was used last is in every TLB, and the newest there. \returns
/// whether another one would change nothing.
bool Core::lookupPage(Pages &size, const Slot &slot, uint64_t page) {
  bool same = true;
  size.last = page;
  pageChanges += !tlbHitsLeaveState;
  size.changes += !size.hitsLeaveState();
  for (Pages::Level &level : size.levels) {
    if (level.access(page))
      break;
    counts[slot.row + level.counter] += missWeight;
    ++pageChanges;
    ++size.changes;
    same = false;
  }
  return same;
}

/// Who is in the last small page is in the last large ones as well.
bool Core::lookupPages(Slot &slot, uint64_t line) {
  bool same = true;
  for (Pages &size : pages) {
    uint64_t page = line >> size.shift;
    if (page == size.last)
      break;
    if (size.isUnchangedBy(page))
      size.last = page;
    else
      same &= lookupPage(size, slot, page);
  }
  slot.pageLine = line;
  slot.pageChanges = pageChanges;
  return same;
}

/// Inline, or all registers are saved twice.
__attribute__((always_inline)) inline bool Core::touchLine(Slot &slot,
                                                           uint64_t line) {
  bool same = isPageKnown(slot, line) || lookupPages(slot, line);
  return (isNewest(line, slot.key, slot.keyMask) || lookupFirst(slot, line)) &&
         same;
}

bool Core::touchSecond(Slot &slot, uint64_t line) {
  bool same = touchLine(slot, line);
  slot.pageChanges = 0; // the second page may have displaced the first
  return same;
}

/// A line that comes from nowhere, and is then written.
bool Core::zeroLine(Slot &slot, uint64_t line) {
  if (!isPageKnown(slot, line))
    lookupPages(slot, line);
  slot.line = line;
  bool isKept = model.machine.caches.size() > 1;
  for (First &one : first)
    for (Count kind : {Count::demandMisses, Count::writeBacks}) {
      if (isKept || kind == Count::writeBacks)
        addRequest(one, {line, slot.row, 0, slot.sector, kind, false, true});
    }
  return false;
}

/// PLD and PST into L1 or L2 fetch the line there, L3 and PLI do nothing, KEEP
/// and STRM are the same; it never faults and starts no hardware prefetch
/// (Manual, table 11-2: read). Where a strong one misses the TLB it walks the
/// page table (Extension, page 19) or is dropped (Manual, page 71).
bool Core::prefetchLine(Slot &slot, uint64_t line) {
  if (!isPageKnown(slot, line))
    lookupPages(slot, line);
  slot.line = line;
  if (slot.prefetches == 1) {
    insertFirst(slot, line);
    return false;
  }
  Request wanted(line, slot.row, 0, slot.sector, Count::prefetchMisses);
  wanted.isBeyond = true;
  if (model.machine.caches.size() > 1)
    for (First &one : first)
      addRequest(one, wanted);
  return false;
}

/// \see touch
bool Core::touchAnew(Slot &slot, uint64_t line, uint64_t end) {
  if (canFollow && line == end && isPageKnown(slot, line) &&
      isNewest(line, slot.key, slot.keyMask) &&
      isFetched(computeAhead(line, slot.line))) {
    slot.line = line;
    return !linesAhead;
  }
  return touchOther(slot, line, end);
}

bool Core::touchOther(Slot &slot, uint64_t line, uint64_t end) {
  if (slot.zeroes)
    return zeroLine(slot, line);
  if (slot.prefetches)
    return prefetchLine(slot, line);
  bool same = touchLine(slot, line);
  if (end != line)
    same &= touchSecond(slot, end);
  return line == slot.line ? same : follow(slot, line) && same;
}

/// Once each of the streams that runAlong() moves, on pages that are known.
void Core::touchAlong() {
  for (const Cursor *cursor : along) {
    Slot &slot = slots[cursor->stream.site];
    if (!isNewest(cursor->line, slot.key, slot.keyMask))
      lookupFirst(slot, cursor->line);
    slot.line = cursor->line;
  }
}

void Core::access(unsigned site, uint64_t address) {
  begin();
  Slot &slot = slots[site];
  ++slot.accesses;
  touch(site, address >> lineBits, (address + slot.bytes - 1) >> lineBits);
}
