// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HugePages.h.

#include "Node/HugePages.h"
#include "Support/StableSort.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

LargeSpace::LargeSpace(uint64_t bytes)
    : bytes(bytes + largePageBytes),
      space(mmap(nullptr, this->bytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}

LargeSpace::~LargeSpace() {
  if (space != MAP_FAILED)
    munmap(space, bytes);
}

char *LargeSpace::start() const {
  if (space == MAP_FAILED)
    return nullptr;
  return reinterpret_cast<char *>(
      alignTo(reinterpret_cast<uintptr_t>(space), largePageBytes));
}

std::string mpg::sysfsSize(uint64_t bytes) {
  return std::to_string(bytes >> 10) + "kB";
}

// Blocks below 2 MiB are not counted: compaction may join them, but promises
// nothing.
uint64_t FreeBlocks::largePages(uint64_t baseBytes) const {
  uint64_t pages = 0;
  uint64_t blockBytes = baseBytes;
  for (uint64_t count : blocks) {
    pages =
        addCapped(pages, multiplyCapped(count, blockBytes / largePageBytes));
    blockBytes = multiplyCapped(blockBytes, 2);
  }
  return pages;
}

const HugePool *PageFacts::largePool() const {
  if (pools)
    for (const HugePool &pool : *pools)
      if (pool.pageBytes == largePageBytes)
        return &pool;
  return nullptr;
}

/// AT_PAGESZ out of the vector that the kernel hands to every program: pairs
/// of 64-bit numbers, type and value.
static Fact<uint64_t> readBasePage(const SysTree &tree) {
  if (tree.isLive())
    return uint64_t(sysconf(_SC_PAGESIZE));
  constexpr uint64_t pageSizeType = 6;
  Fact<std::string> vector = tree.text("/proc/self/auxv");
  if (!vector)
    return Fact<uint64_t>::missing(vector.unknown);
  for (size_t at = 0; at + 16 <= (*vector).size(); at += 16) {
    const char *entry = (*vector).data() + at;
    uint64_t value = support::endian::read64le(entry + 8);
    if (support::endian::read64le(entry) == pageSizeType &&
        isPowerOf2_64(value) && value >= 4096 && value <= largePageBytes)
      return value;
  }
  return Fact<uint64_t>::missing("/proc/self/auxv: no size of a page in it");
}

/// In a container without /sys: the pool of the default size. Others, if any,
/// are unknown.
static Fact<std::vector<HugePool>> readDefaultPool(const SysTree &tree) {
  Fact<uint64_t> pageBytes = tree.kibibytes("/proc/meminfo", "Hugepagesize");
  auto count = [&](StringRef name) -> Fact<uint64_t> {
    Fact<std::string> text = tree.field("/proc/meminfo", name);
    if (!text)
      return Fact<uint64_t>::missing(text.unknown);
    if (std::optional<uint64_t> number = parseNumber(*text))
      return *number;
    return Fact<uint64_t>::missing("/proc/meminfo: no number after " +
                                   name.str());
  };
  Fact<uint64_t> total = count("HugePages_Total");
  if (!pageBytes || !total || !isPowerOf2_64(*pageBytes) || *pageBytes >> 50)
    return Fact<std::vector<HugePool>>::missing(
        "/sys/kernel/mm/hugepages: there is no /sys/kernel/mm");
  return std::vector<HugePool>{
      {*pageBytes, total, count("HugePages_Free"), count("HugePages_Rsvd"),
       count("HugePages_Surp"),
       tree.number("/proc/sys/vm/nr_overcommit_hugepages")}};
}

static Fact<std::vector<HugePool>> readPools(const SysTree &tree) {
  constexpr const char *folder = "/sys/kernel/mm/hugepages";
  // Without /sys little is known; with it, no folder means no large pages.
  if (!tree.exists("/sys/kernel/mm"))
    return readDefaultPool(tree);
  Fact<std::vector<std::string>> names = tree.names(folder);
  if (!names)
    return Fact<std::vector<HugePool>>::missing(names.unknown);
  std::vector<HugePool> pools;
  for (const std::string &name : *names) {
    StringRef size = name;
    if (!size.consume_front("hugepages-") || !size.consume_back("kB"))
      continue;
    std::optional<uint64_t> kibibytes = parseNumber(size);
    if (!kibibytes || !isPowerOf2_64(*kibibytes) || *kibibytes >> 40)
      continue;
    std::string pool = (Twine(folder) + "/" + name).str();
    pools.push_back({*kibibytes << 10, tree.number(pool + "/nr_hugepages"),
                     tree.number(pool + "/free_hugepages"),
                     tree.number(pool + "/resv_hugepages"),
                     tree.number(pool + "/surplus_hugepages"),
                     tree.number(pool + "/nr_overcommit_hugepages")});
  }
  // Names in their order have 1048576kB before 2048kB.
  sortBy(pools, &HugePool::pageBytes);
  return pools;
}

/// "Node 0, zone   Normal   1548   1192 ..."
static std::optional<FreeBlocks> parseZone(StringRef line) {
  SmallVector<StringRef, 16> words;
  line.split(words, ' ', -1, /*KeepEmpty=*/false);
  FreeBlocks zone;
  if (words.size() < 5 || words[0] != "Node" || words[2] != "zone" ||
      !words[1].consume_back(",") || words[1].getAsInteger(10, zone.node))
    return std::nullopt;
  zone.zone = words[3].str();
  for (StringRef word : ArrayRef(words).drop_front(4)) {
    std::optional<uint64_t> count = parseNumber(word);
    if (!count)
      return std::nullopt;
    zone.blocks.push_back(*count);
  }
  return zone;
}

static Fact<std::vector<FreeBlocks>> readFreeBlocks(const SysTree &tree) {
  using Result = Fact<std::vector<FreeBlocks>>;
  Fact<std::string> text = tree.text("/proc/buddyinfo");
  if (!text)
    return Result::missing(text.unknown);
  std::vector<FreeBlocks> zones;
  SmallVector<StringRef, 32> lines;
  StringRef(*text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    std::optional<FreeBlocks> zone = parseZone(line);
    if (!zone)
      return Result::missing("/proc/buddyinfo: not in the kernel's format");
    zones.push_back(std::move(*zone));
  }
  if (zones.empty())
    return Result::missing("/proc/buddyinfo: empty");
  return zones;
}

PageFacts mpg::readPageFacts(const SysTree &tree) {
  PageFacts facts;
  facts.baseBytes = readBasePage(tree);
  facts.defaultHugeBytes = tree.kibibytes("/proc/meminfo", "Hugepagesize");
  facts.pools = readPools(tree);
  facts.freeBlocks = readFreeBlocks(tree);
  facts.memoryBytes = tree.kibibytes("/proc/meminfo", "MemTotal");
  facts.availableBytes = tree.kibibytes("/proc/meminfo", "MemAvailable");
  return facts;
}

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
  for (const std::string &name : tree.names(folder).valueOr({})) {
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
  sortBy(sizes, &TransparentSize::pageBytes);
  return sizes;
}

TransparentFacts mpg::readTransparentFacts(const SysTree &tree) {
  const std::string folder = "/sys/kernel/mm/transparent_hugepage";
  TransparentFacts facts;
  facts.processEnabled =
      parseFact(tree.field("/proc/self/status", "THP_enabled"), parseNumber,
                "/proc/self/status: THP_enabled is no number");
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
