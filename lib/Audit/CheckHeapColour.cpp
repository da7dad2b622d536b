// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG211: a job that switches off what keeps equally large blocks of malloc
// apart in the L1 cache. What a program will allocate cannot be seen; that it
// has equal arrays already is the sign to go by.

#include "Audit/Checks.h"
#include "Support/Format.h"
#include <elf.h>
#include <map>
#include <set>

using namespace llvm;
using namespace mpg;

namespace {

struct EqualArrays {
  uint64_t bytes = 0;
  size_t count = 0;
  std::string first; ///< name of one of them
};

} // namespace

/// The largest group of arrays of one size that fills whole ways of the L1
/// cache, so that blocks behind each other start in the same set.
static EqualArrays findEqualArrays(Image &image) {
  constexpr uint64_t wayBytes = 16 << 10; // HW:a64fx-l1d-way
  std::map<uint64_t, std::set<uint64_t>> addresses;
  EqualArrays most;
  image.forEachSymbol([&](const Symbol &symbol) {
    if (symbol.type != STT_OBJECT || !symbol.defined() || symbol.bytes == 0 ||
        symbol.bytes % wayBytes != 0)
      return;
    std::set<uint64_t> &group = addresses[symbol.bytes];
    if (group.insert(symbol.value).second && group.size() > most.count)
      most = {symbol.bytes, group.size(), symbol.name.str()};
  });
  return most;
}

/// Why blocks of \p bytes are not spread over the cache; "" if they are.
static std::string whyNotSpread(const Environment &environment,
                                uint64_t bytes) {
  if (environment.valueOf("XOS_MMM_L_COLORING") == "0")
    return "XOS_MMM_L_COLORING=0";
  // Blocks below the threshold come from the heap, which has no colours.
  StringRef text = environment.valueOf("MALLOC_MMAP_THRESHOLD_");
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
      launch->environment.valueOf("XOS_MMM_L_HPAGE_TYPE") == "none")
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
