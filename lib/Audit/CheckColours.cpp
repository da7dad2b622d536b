// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses that agree modulo a cache way. MPG210: arrays of equal size in
// .data and .bss. MPG211: a job that switches off what keeps equally large
// blocks of malloc apart.

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

namespace {

struct EqualArrays {
  uint64_t bytes = 0;
  size_t count = 0;
  std::string first; ///< name of one of them
};

} // namespace

/// The largest group of arrays of one size that fills whole ways of the L1
/// cache, so that successive blocks start in the same set.
static EqualArrays findEqualArrays(Image &image) {
  constexpr uint64_t wayBytes = 16 << 10; // HW:a64fx-l1d-way
  std::map<uint64_t, std::set<uint64_t>> addresses;
  EqualArrays max;
  image.forEachSymbol([&](const Symbol &symbol) {
    if (symbol.type != STT_OBJECT || !symbol.defined() || symbol.bytes == 0 ||
        symbol.bytes % wayBytes != 0)
      return;
    std::set<uint64_t> &group = addresses[symbol.bytes];
    if (group.insert(symbol.value).second && group.size() > max.count)
      max = {symbol.bytes, group.size(), symbol.name.str()};
  });
  return max;
}

/// Why blocks of \p bytes are not spread over the cache; "" if they are.
static std::string whyNotSpread(const Environment &environment,
                                uint64_t bytes) {
  if (environment.getValue("XOS_MMM_L_COLORING") == "0")
    return "XOS_MMM_L_COLORING=0";
  // Blocks below the threshold come from the heap, which has no colours.
  StringRef text = environment.getValue("MALLOC_MMAP_THRESHOLD_");
  uint64_t threshold = 0;
  if (!text.empty() && !text.getAsInteger(0, threshold) && threshold > bytes)
    return ("MALLOC_MMAP_THRESHOLD_=" + text).str();
  return "";
}

void mpg::checkHeapColour(const Subject &subject, Findings &findings) {
  constexpr size_t ways = 4; // HW:a64fx-l1d-way
  Image &image = subject.image;
  const Launch *launch = subject.launch();
  if (!launch || !image.isProgram() || image.machine() != Machine::aarch64 ||
      launch->environment.getValue("XOS_MMM_L_HPAGE_TYPE") == "none")
    return;
  EqualArrays arrays = findEqualArrays(image);
  if (arrays.count <= ways)
    return;
  std::string setting = whyNotSpread(launch->environment, arrays.bytes);
  if (setting.empty())
    return;
  Finding &finding =
      findings.add(FindingId::mpg211, "with " + setting +
                                          " equal blocks of malloc start at "
                                          "the same place of the L1 cache");
  finding.where.bytes = arrays.bytes;
  finding.where.symbol = setting.substr(0, setting.find('='));
  finding.evidence = "the program has " + std::to_string(arrays.count) +
                     " arrays of " + formatBytes(arrays.bytes) + ", " +
                     arrays.first +
                     " among them; what it allocates is not known";
}
