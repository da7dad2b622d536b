// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG210: arrays of equal size whose addresses agree modulo a cache way throw
// each other's lines out when a loop walks all of them.

#include "Audit/Checks.h"
#include "Support/Format.h"
#include <elf.h>
#include <map>
#include <set>

using namespace llvm;
using namespace mpg;

namespace {

/// Arrays that compete: equal size, equal address modulo the way.
using Colour = std::pair<uint64_t, uint64_t>;

struct ColourGroup {
  std::string first; ///< name of the array with the lowest address
  uint64_t firstAddress = 0;
  unsigned count = 0;
};

struct Cache {
  const char *name;
  uint64_t wayBytes;
  unsigned ways;
};

} // namespace

/// HW:a64fx-l1d-way, HW:a64fx-l2-way
static constexpr Cache caches[] = {{"L1", 16 << 10, 4}, {"L2", 512 << 10, 16}};

static void checkCache(const Cache &cache, const std::vector<Symbol> &arrays,
                       Findings &findings) {
  std::map<Colour, ColourGroup> groups;
  for (const Symbol &array : arrays) {
    ColourGroup &group = groups[{array.bytes, array.value % cache.wayBytes}];
    if (group.count++ == 0 || array.value < group.firstAddress) {
      group.first = array.name.str();
      group.firstAddress = array.value;
    }
  }
  for (const auto &[colour, group] : groups) {
    if (group.count <= cache.ways)
      continue;
    Finding &finding = findings.add(
        FindingId::mpg210, std::to_string(group.count) + " arrays of " +
                               formatBytes(colour.first) +
                               " start at the same place of the " + cache.name +
                               " cache, which has " +
                               std::to_string(cache.ways) + " ways");
    finding.sub = cache.name;
    finding.where.address = group.firstAddress;
    finding.where.bytes = colour.first;
    finding.evidence = "the first is " + group.first + "; all addresses are " +
                       formatHex(colour.second) + " modulo " +
                       formatBytes(cache.wayBytes);
  }
}

void mpg::checkCacheColour(const Subject &subject, Findings &findings) {
  constexpr uint64_t smallestBytes = 16 << 10;
  Image &image = subject.image;
  if (!image.isProgram() || image.machine() != Machine::aarch64)
    return;
  // An alias is a second name for the same array, not another array.
  std::set<std::pair<uint64_t, uint64_t>> seen;
  std::vector<Symbol> arrays;
  image.forEachSymbol([&](const Symbol &symbol) {
    if (symbol.type == STT_OBJECT && symbol.defined() &&
        symbol.bytes >= smallestBytes &&
        seen.insert({symbol.value, symbol.bytes}).second)
      arrays.push_back(symbol);
  });
  for (const Cache &cache : caches)
    checkCache(cache, arrays, findings);
}
