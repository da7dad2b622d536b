// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Transparent.h.

#include "Node/Transparent.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

Fact<std::string> TransparentFacts::effective(uint64_t bytes) const {
  if (processEnabled && *processEnabled == 0)
    return std::string("never");
  if (present && !*present)
    return std::string("never");
  for (const TransparentSize &size : sizes)
    if (size.pageBytes == bytes)
      // A size's own word wins over the common one.
      return size.enabled && *size.enabled != "inherit" ? size.enabled
             : size.enabled                             ? enabled
                                                        : size.enabled;
  if (!pageBytes)
    // Kernels before 5.0 do not tell the size. Theirs is 2 MiB unless the base
    // page is not 4 KiB; the caller knows that page.
    return enabled;
  return *pageBytes == bytes ? enabled : std::string("never");
}

static std::vector<TransparentSize> readSizes(const SysTree &tree,
                                              StringRef folder) {
  std::vector<TransparentSize> sizes;
  for (const std::string &name : tree.names(folder)) {
    StringRef digits = name;
    if (!digits.consume_front("hugepages-") || !digits.consume_back("kB"))
      continue;
    std::string file = (folder + "/" + name + "/enabled").str();
    std::optional<uint64_t> kibibytes = parseNumber(digits);
    // The smallest size has a switch for shared memory only.
    if (!kibibytes || !isPowerOf2_64(*kibibytes) || *kibibytes >> 40 ||
        !tree.exists(file))
      continue;
    sizes.push_back({*kibibytes << 10, tree.choice(file)});
  }
  std::sort(sizes.begin(), sizes.end(),
            [](const TransparentSize &a, const TransparentSize &b) {
              return a.pageBytes < b.pageBytes;
            });
  return sizes;
}

TransparentFacts mpg::readTransparentFacts(const SysTree &tree) {
  const std::string folder = "/sys/kernel/mm/transparent_hugepage";
  TransparentFacts facts;
  facts.processEnabled = [&]() -> Fact<uint64_t> {
    Fact<std::string> word = tree.field("/proc/self/status", "THP_enabled");
    if (!word)
      return Fact<uint64_t>::missing(word.unknown);
    if (std::optional<uint64_t> number = parseNumber(*word))
      return *number;
    return Fact<uint64_t>::missing("/proc/self/status: THP_enabled is no "
                                   "number");
  }();
  if (!tree.exists("/sys/kernel/mm")) {
    facts.present =
        Fact<bool>::missing(folder + ": there is no /sys/kernel/mm");
    facts.enabled = Fact<std::string>::missing(facts.present.unknown);
    return facts;
  }
  facts.present = tree.exists(folder);
  if (!*facts.present)
    return facts;
  facts.enabled = tree.choice(folder + "/enabled");
  facts.defrag = tree.choice(folder + "/defrag");
  facts.sharedEnabled = tree.choice(folder + "/shmem_enabled");
  facts.pageBytes = tree.number(folder + "/hpage_pmd_size");
  facts.collapserDefrag = tree.number(folder + "/khugepaged/defrag");
  facts.collapserScanPages = tree.number(folder + "/khugepaged/pages_to_scan");
  facts.collapserSleepMs =
      tree.number(folder + "/khugepaged/scan_sleep_millisecs");
  facts.collapserEmptyPages = tree.number(folder + "/khugepaged/max_ptes_none");
  facts.sizes = readSizes(tree, folder);
  return facts;
}
