// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How sets are laid out, which line makes room, and many uses at once.

#include "Sim/CacheSets.h"
#include <algorithm>
#include <cassert>
#if defined(__x86_64__) && !defined(MPG_SIM_PORTABLE)
#define MPG_SIM_VECTORS // a test takes the other way on this machine, too
#include <immintrin.h>
#endif

using namespace mpg::sim;

static uint64_t maskOfSets(uint64_t sets) {
  // One set is "a remainder by one", so that 0 can mean no power of two.
  return sets & (sets - 1) ? 0 : sets - 1;
}

/// Vectors of eight ways that this machine can keep a set in; 0: it cannot, or
/// a few ways are quicker one by one.
static unsigned vectorsFor([[maybe_unused]] unsigned ways) {
#if defined(MPG_SIM_VECTORS)
  if (ways > 4 && ways <= 24 && __builtin_cpu_supports("avx512f"))
    return (ways + 7) / 8;
#endif
  return 0;
}

CacheSets::CacheSets(const CacheLevel &level, unsigned lineBytes,
                     const WayLimits &limits)
    : vectors(vectorsFor(level.modelledWays())),
      sets(level.bytes / level.ways / lineBytes), setMask(maskOfSets(sets)),
      ways(level.modelledWays()), lru(level.replacement == Replacement::lru),
      hitRelabels(level.hitRelabels && level.sectors > 1),
      sectorMask(level.sectors - 1), hashAt(level.hash.at),
      hashMask((uint64_t(1) << level.hash.bits) - 1) {
  assert(ways <= 64);
  stride = vectors ? vectors * 8 : ways;
  memory.resize(sets * stride + 7, nothing);
  words = &memory[(64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64 /
                  sizeof(uint64_t)];
  for (unsigned bit : level.hash.from) {
    assert(bit >= exactLog2(lineBytes) && "a hash of bits within a line");
    hashShifts.push_back(bit - exactLog2(lineBytes));
  }
  for (unsigned sector = 0; sector < maxWays.size(); ++sector) {
    bool reachable = limits[sector] && limits[sector] < ways;
    maxWays[sector] = uint8_t(reachable ? limits[sector] : ways);
    limited |= reachable && sector < level.sectors;
  }
}

bool CacheSets::isLinearIn(uint64_t linesOfPage) const {
  unsigned bits = exactLog2(linesOfPage);
  return (setMask || sets == 1) &&
         std::all_of(hashShifts.begin(), hashShifts.end(),
                     [=](unsigned shift) { return shift >= bits; });
}

static unsigned findLast(uint64_t bits) {
  return 63 - unsigned(__builtin_clzll(bits));
}

/// The way that makes room in a full set. Who is at or over its limit replaces
/// its own oldest line. Who is below takes it from a sector over its limit,
/// else from another one at its limit. The manual shows the first two cases;
/// the third is inferred. HW:sector-victim
unsigned CacheSets::victim(const SectorWays &bits, unsigned sector) const {
  uint64_t over = 0, full = 0;
  for (unsigned other = 0; other <= sectorMask; ++other) {
    unsigned held = unsigned(__builtin_popcountll(bits[other]));
    if (!held)
      continue;
    if (other == sector && held >= maxWays[other])
      return findLast(bits[other]);
    over |= held > maxWays[other] ? bits[other] : 0;
    full |= held == maxWays[other] ? bits[other] : 0;
  }
  uint64_t from = over ? over : full;
  return from ? findLast(from) : ways - 1;
}

CacheSets::SectorWays CacheSets::waysOfSectors(const uint64_t *set) const {
  SectorWays bits = {};
  for (unsigned way = 0; way < ways; ++way)
    bits[(set[way] & sectorBits) >> 1] |= uint64_t(1) << way;
  return bits;
}

/// First in first out, or with limits.
CacheSets::Outcome CacheSets::accessListed(uint64_t use, uint64_t *set) const {
  uint64_t *place = find(use, set);
  bool hit = place;
  if (hit && !lru) {
    *place = usedAgain(*place, use);
    return {true, false, false, 0};
  }
  if (!hit)
    place = set + (limited && set[ways - 1] != nothing
                       ? victim(waysOfSectors(set), (use & sectorBits) >> 1)
                       : ways - 1);
  uint64_t left = *place;
  std::copy_backward(set, place, place + 1);
  *set = hit ? usedAgain(left, use) : use;
  return hit ? Outcome{true, false, false, 0} : miss(left);
}

uint64_t CacheSets::runOne(const Use &use) {
  uint64_t *set = &words[use.set * stride];
  if (use.word & dirty) {
    uint64_t *place = find(use.word, set);
    if (place)
      *place |= dirty;
    return place ? 0 : missed;
  }
  Outcome outcome = isPlainLru() ? moveIn<0>(use.word, set, ways)
                                 : accessListed(use.word, set);
  return outcome.hit ? 0
                     : missed | uint64_t(outcome.evictedDirty) << 1 |
                           outcome.line << stateBits;
}

#if defined(MPG_SIM_VECTORS)
// GCC's header fills what it ignores with an undefined value, and then warns.
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
/// Sets that the host fetches meanwhile.
static constexpr size_t ahead = 8;

/// Into the host's caches.
static void fetch(const uint64_t *set, unsigned vectors) {
  for (unsigned n = 0; n < vectors; ++n)
    __builtin_prefetch(set + 8 * n, 1);
}

/// Puts \p front before the entries of \p set, which are \p old, up to the one
/// at the bit \p place; that one goes.
template <unsigned vectors>
__attribute__((target("avx512f"))) static inline void
moveToFront(uint64_t *set, const __m512i *old, uint64_t front, uint64_t place) {
  __m512i before = _mm512_set1_epi64(int64_t(front));
  for (unsigned n = 0; n < vectors; ++n) {
    __m512i moved = _mm512_alignr_epi64(old[n], before, 7);
    before = old[n];
    _mm512_store_si512(
        set + 8 * n,
        _mm512_mask_mov_epi64(old[n], __mmask8((place ^ (place - 1)) >> 8 * n),
                              moved));
  }
}

template <unsigned vectors>
__attribute__((target("avx512f"))) void
CacheSets::runWide(const Use *uses, size_t count, uint64_t *results) {
  const __m512i lineBits = _mm512_set1_epi64(~int64_t(states - 1));
  const __m512i ones = _mm512_set1_epi64(dirty);
  const uint64_t all = ~uint64_t(0) >> (64 - ways);
  for (size_t at = 0; at < count; ++at) {
    size_t later = std::min(at + ahead, count - 1);
    fetch(&words[uses[later].set * stride], vectors);
    const Use &use = uses[at];
    uint64_t *set = &words[use.set * stride];
    // Most hits are of the newest line, and change nothing.
    uint64_t ignored = use.word & dirty ? sectorBits : dirty;
    if ((set[0] & ~ignored) == use.word) {
      results[at] = 0;
      continue;
    }
    __m512i wanted = _mm512_set1_epi64(int64_t(use.word)), old[vectors];
    uint64_t found = 0;
    for (unsigned n = 0; n < vectors; ++n) {
      old[n] = _mm512_load_si512(set + 8 * n);
      found |= uint64_t(_mm512_testn_epi64_mask(
                   _mm512_xor_si512(old[n], wanted), lineBits))
               << 8 * n;
    }
    if (use.word & dirty) {
      for (unsigned n = 0; n < vectors; ++n)
        _mm512_store_si512(
            set + 8 * n, _mm512_mask_or_epi64(old[n], __mmask8(found >> 8 * n),
                                              old[n], ones));
      results[at] = found ? 0 : missed;
      continue;
    }
    uint64_t place = found ? found : uint64_t(1) << (ways - 1);
    if (limited && !found && set[ways - 1] != nothing) {
      SectorWays bits = {};
      for (unsigned sector = 0; sector <= sectorMask; ++sector)
        for (unsigned n = 0; n < vectors; ++n)
          bits[sector] |=
              uint64_t(_mm512_cmpeq_epi64_mask(
                  _mm512_and_si512(old[n], _mm512_set1_epi64(sectorBits)),
                  _mm512_set1_epi64(int64_t(sector) << 1)))
                  << 8 * n &
              all;
      place = uint64_t(1) << victim(bits, (use.word & sectorBits) >> 1);
    }
    uint64_t left = set[__builtin_ctzll(place)];
    uint64_t front = found ? usedAgain(left, use.word) : use.word;
    results[at] = found ? 0 : getResult(left);
    if (found && !lru) {
      set[__builtin_ctzll(place)] = front;
      continue;
    }
    moveToFront<vectors>(set, old, front, place);
  }
}
#endif

void CacheSets::run(const Use *uses, size_t count, uint64_t *results) {
  for (size_t at = 0; alikeBlocks && at < count; ++at)
    spread(uses[at].set >> blockBits);
  runSets(uses, count, results);
}

void CacheSets::runSets(const Use *uses, size_t count, uint64_t *results) {
#if defined(MPG_SIM_VECTORS)
  if (vectors == 1)
    return runWide<1>(uses, count, results);
  if (vectors == 2)
    return runWide<2>(uses, count, results);
  if (vectors == 3)
    return runWide<3>(uses, count, results);
#endif
  for (size_t at = 0; at < count; ++at)
    results[at] = runOne(uses[at]);
}

unsigned CacheSets::blockBitsIn(uint64_t linesOfPage) const {
  if (!isLinearIn(linesOfPage))
    return 0;
  unsigned bits = std::min({8U, exactLog2(linesOfPage), exactLog2(sets)});
  return hashShifts.empty() ? bits : std::min(bits, hashAt);
}

void CacheSets::keepBlocks(unsigned bits) {
  blockBits = bits;
  blocks.assign(sets >> bits, 0);
}

/// From the first set of a block that is alike to all.
void CacheSets::spread(uint64_t block) {
  if (!blocks[block])
    return;
  blocks[block] = 0;
  --alikeBlocks;
  const uint64_t *first = &words[(block << blockBits) * stride];
  uint64_t *set = &words[(block << blockBits) * stride];
  for (uint64_t at = 1; at >> blockBits == 0; ++at) {
    set += stride;
    for (unsigned way = 0; way < ways; ++way)
      set[way] =
          first[way] == nothing ? nothing : first[way] + (at << stateBits);
  }
}

/// Whether \p set holds what \p first does, \p lines further on.
bool CacheSets::isMoved(const uint64_t *first, const uint64_t *set,
                        uint64_t lines) const {
  for (unsigned way = 0; way < ways; ++way)
    if (set[way] !=
        (first[way] == nothing ? nothing : first[way] + (lines << stateBits)))
      return false;
  return true;
}

bool CacheSets::isAlike(uint64_t number) {
  uint64_t block = number >> blockBits;
  if (blocks[block])
    return true;
  const uint64_t *set = &words[number * stride];
  // From the last one on: a stream that begins or ends in a block is not there.
  for (uint64_t at = (uint64_t(1) << blockBits) - 1; at; --at)
    if (!isMoved(set, set + at * stride, at))
      return false;
  blocks[block] = 1;
  ++alikeBlocks;
  return true;
}

uint64_t CacheSets::runAlike(const Use &use) {
  uint64_t result;
  runSets(&use, 1, &result);
  return result;
}

void CacheSets::addState(uint64_t lines, std::vector<uint64_t> &state) const {
  for (const uint64_t *word = words; word < words + sets * stride; ++word)
    state.push_back(*word == nothing ? *word : *word - (lines << stateBits));
}

void CacheSets::moveLines(uint64_t lines) {
  for (uint64_t *word = words; word < words + sets * stride; ++word)
    *word += *word == nothing ? 0 : lines << stateBits;
}
