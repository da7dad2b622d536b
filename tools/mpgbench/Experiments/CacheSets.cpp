// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CacheSets.h.

#include "mpgbench/Experiments/CacheSets.h"
#include "Node/NodeMachine.h"
#include <algorithm>
#include <cassert>

using namespace llvm;
using namespace mpg;

std::optional<CacheShape> mpg::readL1d(const SysTree &tree) {
  for (const DataCache &cache : readDataCaches(tree)) {
    if (cache.level != 1)
      continue;
    // A file may say anything; this many sets or bytes no L1 cache has.
    constexpr uint64_t most = 1 << 20;
    if (cache.sets == 0 || cache.ways == 0 || cache.lineBytes == 0 ||
        cache.sets > most || cache.lineBytes > most)
      return std::nullopt;
    return CacheShape{cache.sets, cache.ways, cache.lineBytes};
  }
  return std::nullopt;
}

/// Borders of lines and of sets do not lie between two of these: malloc aligns
/// to 16.
static constexpr uint64_t stepBytes = 8;

SetConflicts mpg::countConflicts(ArrayRef<uint64_t> starts, uint64_t bytes,
                                 const CacheShape &shape) {
  assert(shape.sets > 0 && shape.ways > 0 && shape.lineBytes > 0);
  // From there on everything comes again.
  uint64_t period = std::min(bytes, shape.sets * shape.lineBytes);
  std::vector<bool> isConflicting(shape.sets);
  SetConflicts conflicts;
  std::vector<uint64_t> setOf(starts.size());
  for (uint64_t offset = 0; offset < period; offset += stepBytes) {
    for (size_t i = 0; i < starts.size(); ++i)
      setOf[i] = (starts[i] + offset) / shape.lineBytes % shape.sets;
    for (uint64_t set : setOf) {
      auto arrays = uint64_t(std::count(setOf.begin(), setOf.end(), set));
      conflicts.mostArrays = std::max(conflicts.mostArrays, arrays);
      if (arrays > shape.ways)
        isConflicting[set] = true;
    }
  }
  conflicts.sets =
      uint64_t(std::count(isConflicting.begin(), isConflicting.end(), true));
  return conflicts;
}
