// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The facts about a processor that the memory model needs, as a file of
// share/mpgtools/machines has them (MachineFile.h reads it). Plain data: no
// LLVM here, nor in any header of this folder.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mpg::sim {

inline unsigned exactLog2(uint64_t powerOfTwo) {
  unsigned bits = 0;
  while (powerOfTwo >>= 1)
    ++bits;
  return bits;
}

enum class Replacement : uint8_t { lru, fifo };

/// Exclusive or of \p bits bits of the physical address, beginning at each bit
/// of \p from, into the set index at its bit \p at. No bits: no hash.
struct IndexHash {
  unsigned bits = 0;
  unsigned at = 0;
  std::vector<unsigned> from;
};

/// The first level is indexed by virtual address and belongs to one core; the
/// others are indexed by physical address.
struct CacheLevel {
  std::string name;
  uint64_t bytes = 0;
  unsigned ways = 0;
  unsigned usableWays = 0; ///< by programs; 0: all
  Replacement replacement = Replacement::lru;
  bool shared = false; ///< by the cores of a group
  IndexHash hash;
  unsigned sectors = 1; ///< powers of two; the low bits of an access's sector
  bool limitsSector0 = true; ///< to the ways that sector 1 leaves
  bool hitRelabels = true;

  unsigned modelledWays() const { return usableWays ? usableWays : ways; }
};

/// Entries for pages of some sizes.
struct TlbArray {
  std::vector<uint64_t> pageBytes;
  unsigned entries = 0;
  unsigned ways = 0;
  Replacement replacement = Replacement::lru;
};

struct TlbLevel {
  std::string name;
  std::vector<TlbArray> arrays;

  /// The array for pages of this size; null if this level holds none of them.
  const TlbArray *arrayFor(uint64_t pageBytes) const {
    for (const TlbArray &array : arrays)
      for (uint64_t bytes : array.pageBytes)
        if (bytes == pageBytes)
          return &array;
    return nullptr;
  }
};

/// The prefetcher of the first cache (\p level 0) fetches the line \p
/// linesAhead lines further when a site walks from one line to its neighbour.
/// The prefetcher of the second cache (1) is at most that far ahead of each
/// stream of the first cache's misses, see PrefetchQueue. A level has at most
/// one.
struct Prefetcher {
  unsigned level = 0;
  unsigned linesAhead = 0;
  unsigned streams = 16; ///< that the second cache's can follow
};

/// The cost of a miss in the last TLB, as a band.
struct PageWalk {
  double minNs = 0;
  double maxNs = 0;
};

/// Bandwidth of one core group, in GB/s (10^9 bytes); 0: not known.
struct BandwidthRoofs {
  double memoryReadGbps = 0;
  double memoryWriteGbps = 0;
};

/// Cores that share a cache and the memory next to them.
struct CoreGroups {
  unsigned count = 1;
  unsigned coresEach = 1;
};

/// Misses of a cache or TLB, or lines of memory (counter "memory"), as the
/// model has them divided by what the processor counted, over published
/// programs.
struct CounterBand {
  std::string counter;
  double min = 0, max = 0;
};

struct Machine {
  std::string name;
  unsigned lineBytes = 0;
  unsigned physicalBits = 0; ///< random pages lie below 2^this
  std::vector<uint64_t> pageBytes;
  std::vector<CacheLevel> caches;
  std::vector<TlbLevel> tlbs;
  std::vector<Prefetcher> prefetchers;
  PageWalk walk;
  BandwidthRoofs roofs;
  CoreGroups groups;
  std::vector<CounterBand> bands; ///< none: never compared with counters
};

} // namespace mpg::sim
