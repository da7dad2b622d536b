// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CacheSets.h.

#include "Bench/Experiments/CacheSets.h"
#include <algorithm>
#include <cassert>

using namespace llvm;
using namespace mpg;

std::optional<CacheShape> mpg::readL1d(const SysTree &tree) {
  const std::string folder = "/sys/devices/system/cpu/cpu0/cache/";
  for (unsigned index : tree.numbered(folder, "index")) {
    std::string entry = folder + "index" + std::to_string(index);
    Fact<std::string> type = tree.line(entry + "/type");
    if (tree.number(entry + "/level").valueOr(0) != 1 || !type ||
        *type == "Instruction")
      continue;
    uint64_t sets = tree.number(entry + "/number_of_sets").valueOr(0);
    uint64_t ways = tree.number(entry + "/ways_of_associativity").valueOr(0);
    uint64_t line = tree.number(entry + "/coherency_line_size").valueOr(0);
    // A file may say anything; this many sets or bytes no L1 cache has.
    constexpr uint64_t most = 1 << 20;
    if (sets == 0 || ways == 0 || line == 0 || sets > most || line > most)
      return std::nullopt;
    return CacheShape{sets, ways, line};
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
