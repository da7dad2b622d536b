// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values derived from the figures of a machine.

#include "Sim/SimMachine.h"
#include <algorithm>

using namespace mpg::sim;

unsigned CoreGroups::hops(unsigned from, unsigned to) const {
  unsigned a = from, b = to;
  if (!ring.empty()) {
    a = unsigned(std::find(ring.begin(), ring.end(), from) - ring.begin());
    b = unsigned(std::find(ring.begin(), ring.end(), to) - ring.begin());
  }
  unsigned steps = a > b ? a - b : b - a;
  return std::min(steps, count - steps);
}

static bool isAssumed(const std::vector<std::string> &assumed,
                      const char *key) {
  return std::find(assumed.begin(), assumed.end(), key) != assumed.end();
}

static Replacement other(Replacement replacement) {
  return replacement == Replacement::lru ? Replacement::fifo : Replacement::lru;
}

/// The low index bits, folded with those above them: what a hash that
/// is not published may look like.
static IndexHash foldedHash(const CacheLevel &level, unsigned lineBytes) {
  IndexHash hash;
  uint64_t sets = level.bytes / level.ways / lineBytes;
  if (sets & (sets - 1))
    return hash; // the index is a remainder, which spreads by itself
  unsigned lineBits = exactLog2(lineBytes), setBits = exactLog2(sets);
  hash.bits = setBits;
  hash.from = {lineBits + setBits, lineBits + 2 * setBits};
  return hash;
}

static bool varyReplacement(Machine &machine) {
  bool isOther = false;
  for (CacheLevel &level : machine.caches)
    if (isAssumed(level.assumed, "replacement")) {
      level.replacement = other(level.replacement);
      isOther = true;
    }
  for (TlbLevel &level : machine.tlbs)
    for (TlbArray &array : level.arrays)
      if (isAssumed(array.assumed, "replacement")) {
        array.replacement = other(array.replacement);
        isOther = true;
      }
  return isOther;
}

static bool varyHashes(Machine &machine) {
  bool isOther = false;
  for (CacheLevel &level : machine.caches)
    if (isAssumed(level.assumed, "hash")) {
      level.hash =
          level.hash.bits ? IndexHash() : foldedHash(level, machine.lineBytes);
      isOther = true;
    }
  return isOther;
}

static bool varyPrefetchers(Machine &machine) {
  auto end =
      std::remove_if(machine.prefetchers.begin(), machine.prefetchers.end(),
                     [](const Prefetcher &prefetcher) {
                       return isAssumed(prefetcher.assumed, "ahead");
                     });
  bool isOther = end != machine.prefetchers.end();
  machine.prefetchers.erase(end, machine.prefetchers.end());
  return isOther;
}

std::vector<Machine> mpg::sim::varied(const Machine &machine) {
  std::vector<Machine> machines = {machine};
  for (auto vary : {varyReplacement, varyHashes, varyPrefetchers}) {
    Machine otherMachine = machine;
    if (vary(otherMachine))
      machines.push_back(std::move(otherMachine));
  }
  return machines;
}
