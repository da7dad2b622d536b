// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which entry of a set is found, and which one makes room.

#include "Sim/SetAssociative.h"
#include <cassert>

using namespace mpg::sim;

static uint64_t maskOfSets(uint64_t sets) {
  // One set is "a remainder by one", so that 0 can mean no power of two.
  return sets & (sets - 1) ? 0 : sets - 1;
}

SetAssociative::SetAssociative(const CacheLevel &level, unsigned lineBytes,
                               const WayLimits &limits)
    : sets(level.bytes / level.ways / lineBytes), setMask(maskOfSets(sets)),
      ways(level.modelledWays()), lru(level.replacement == Replacement::lru),
      hitRelabels(level.hitRelabels && level.sectors > 1),
      sectorMask(level.sectors - 1), hashAt(level.hash.at),
      hashMask((uint64_t(1) << level.hash.bits) - 1) {
  entries.assign(sets * ways, freeEntry);
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

SetAssociative::SetAssociative(const TlbArray &array)
    : sets(array.entries / array.ways), setMask(maskOfSets(sets)),
      ways(array.ways), lru(array.replacement == Replacement::lru) {
  entries.assign(sets * ways, freeEntry);
}

size_t SetAssociative::find(uint64_t line, uint64_t index) const {
  size_t first = setOf(index) * ways;
  for (size_t at = first; at < first + ways; ++at)
    if (entries[at] >> lineShift == line)
      return at;
  return entries.size();
}

bool SetAssociative::markDirty(uint64_t line, uint64_t index) {
  size_t at = find(line, index);
  if (at == entries.size())
    return false;
  entries[at] |= 1;
  return true;
}

/// Who is at or over its limit replaces its own oldest line. Who is below takes
/// it from a sector over its limit, else from another one at its limit. The
/// manual shows the first two cases; the third is inferred. HW:sector-victim
unsigned SetAssociative::victimWay(const uint64_t *set, unsigned sector) const {
  if (set[ways - 1] == freeEntry)
    return ways - 1;
  std::array<unsigned, 4> held = {};
  for (unsigned way = 0; way < ways; ++way)
    ++held[sectorOf(set[way])];
  unsigned over = 0, full = 0; // a bit for each sector
  for (unsigned other = 0; other < held.size(); ++other) {
    over |= unsigned(held[other] > maxWays[other]) << other;
    full |= unsigned(held[other] == maxWays[other]) << other;
  }
  unsigned from = held[sector] >= maxWays[sector] ? 1U << sector
                  : over                          ? over
                  : full                          ? full
                                                  : ~0U;
  for (unsigned way = ways - 1; way; --way)
    if (from >> sectorOf(set[way]) & 1)
      return way;
  return 0;
}
