// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How sets are laid out, and which line makes room.

#include "Sim/CacheSets.h"
#include <algorithm>
#include <cassert>

using namespace mpg::sim;

static uint64_t maskOfSets(uint64_t sets) {
  // One set is "a remainder by one", so that 0 can mean no power of two.
  return sets & (sets - 1) ? 0 : sets - 1;
}

CacheSets::CacheSets(const CacheLevel &level, unsigned lineBytes,
                     const WayLimits &limits)
    : blocksOfSet((level.modelledWays() + lanes - 1) / lanes),
      sets(level.bytes / level.ways / lineBytes), setMask(maskOfSets(sets)),
      ways(level.modelledWays()), lru(level.replacement == Replacement::lru),
      hitRelabels(level.hitRelabels && level.sectors > 1),
      sectorMask(level.sectors - 1), hashAt(level.hash.at),
      hashMask((uint64_t(1) << level.hash.bits) - 1) {
  assert(ways < noWay);
  std::vector<Block> set(blocksOfSet);
  for (unsigned way = 0; way < blocksOfSet * lanes; ++way) {
    Block &block = set[way / lanes];
    unsigned lane = way % lanes;
    block.mark[lane] = int8_t(markOf(~uint64_t(0)));
    block.age[lane] = int8_t(way < ways ? way : noWay);
    block.state[lane] = int8_t(isFree);
    block.low[lane] = ~uint32_t(0);
  }
  blocks.reserve(sets * blocksOfSet);
  for (uint64_t number = 0; number < sets; ++number)
    blocks.insert(blocks.end(), set.begin(), set.end());
  fronts.resize(sets, ~uint64_t(0));
  for (unsigned bit : level.hash.from) {
    assert(bit >= log2Of(lineBytes) && "a hash of bits within a line");
    hashShifts.push_back(bit - log2Of(lineBytes));
  }
  for (unsigned sector = 0; sector < maxWays.size(); ++sector) {
    bool reachable = limits[sector] && limits[sector] < ways;
    maxWays[sector] = uint8_t(reachable ? limits[sector] : ways);
    limited |= reachable && sector < level.sectors;
  }
}

bool CacheSets::isLinearIn(uint64_t linesOfPage) const {
  unsigned bits = log2Of(linesOfPage);
  return (setMask || sets == 1) &&
         std::all_of(hashShifts.begin(), hashShifts.end(),
                     [=](unsigned shift) { return shift >= bits; });
}

/// Counts the ways that \p sector has, and tells its oldest. False: it has
/// none.
bool CacheSets::isHeldIn(Block *set, unsigned sector, Place &oldest,
                         unsigned &held) const {
  held = 0;
  uint8_t most = 0; // one more than the age of the oldest
  for (unsigned at = 0; at < blocksOfSet; ++at) {
    Lanes own = (set[at].state & allLanes(sectorBits | isFree)) ==
                allLanes(uint8_t(sector << 1));
    held += countOf(own);
    most = std::max(most, largestOf((set[at].age + 1) & own));
  }
  if (!held)
    return false;
  oldest = ofAge<false>(set, uint8_t(most - 1));
  return true;
}

/// Who is at or over its limit replaces its own oldest line. Who is below takes
/// it from a sector over its limit, else from another one at its limit. The
/// manual shows the first two cases; the third is inferred. HW:sector-victim
CacheSets::Place CacheSets::victim(Block *set, unsigned sector) const {
  Place oldest = ofAge<false>(set, uint8_t(ways - 1));
  if (stateIn(oldest) & isFree)
    return oldest;
  std::array<Place, 4> places;
  unsigned over = 0, full = 0; // a bit for each sector
  for (unsigned other = 0; other <= sectorMask; ++other) {
    unsigned held;
    if (!isHeldIn(set, other, places[other], held))
      continue;
    if (other == sector && held >= maxWays[other])
      return places[other];
    over |= unsigned(held > maxWays[other]) << other;
    full |= unsigned(held == maxWays[other]) << other;
  }
  unsigned from = over ? over : full;
  if (!from)
    return oldest;
  Place best = {nullptr, 0};
  for (unsigned other = 0; other < places.size(); ++other) {
    const Place &place = places[other];
    if ((from >> other & 1) && (!best.block || place.block->age[place.lane] >
                                                   best.block->age[best.lane]))
      best = place;
  }
  return best;
}

void CacheSets::addState(uint64_t lines, std::vector<uint64_t> &state) const {
  constexpr uint64_t lineBits = (uint64_t(1) << 44) - 1;
  for (Block &block : blocks)
    for (unsigned lane = 0; lane < mpg::sim::lanes; ++lane) {
      uint8_t kind = stateIn({&block, lane});
      uint64_t line = kind & isFree ? 0 : lineIn({&block, lane}) - lines;
      state.push_back((line & lineBits) << 16 | uint64_t(kind & ~topBits) << 8 |
                      uint8_t(block.age[lane]));
    }
}

void CacheSets::moveLines(uint64_t lines) {
  for (Block &block : blocks)
    for (unsigned lane = 0; lane < mpg::sim::lanes; ++lane) {
      uint8_t kind = stateIn({&block, lane});
      if (kind & isFree)
        continue;
      uint64_t line = lineIn({&block, lane}) + lines;
      block.mark[lane] = int8_t(markOf(line));
      block.state[lane] = int8_t((kind & ~topBits) | topOf(line));
      block.low[lane] = uint32_t(line);
    }
  for (uint64_t &front : fronts)
    front += ~front ? lines << frontBits : 0;
}
