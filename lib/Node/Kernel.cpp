// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Kernel.h. Versions: HW:kernel-features.

#include "Node/Kernel.h"
#include "Node/HugePages.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

// Names that the headers of older systems lack.
constexpr int advicePopulateWrite = 23, adviceCollapse = 25;

const KernelFeature *KernelFacts::find(StringRef name) const {
  for (const KernelFeature &feature : features)
    if (name == feature.name)
      return &feature;
  return nullptr;
}

/// "6.18.44-fc" is 6, 18.
static void parseVersion(StringRef release, KernelFacts &facts) {
  unsigned major, minor;
  if (release.consumeInteger(10, major) || !release.consume_front(".") ||
      release.consumeInteger(10, minor))
    return;
  facts.major = major;
  facts.minor = minor;
}

/// The kernel checks the advice before it sees that there is nothing to do.
static std::optional<bool> knowsAdvice(int advice) {
  constexpr int noAdvice = 9999;
  size_t pageBytes = size_t(sysconf(_SC_PAGESIZE));
  void *page =
      mmap(nullptr, pageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return std::nullopt;
  // An emulator that says yes to everything proves nothing. HW:qemu-madvise
  std::optional<bool> known;
  if (madvise(page, 0, noAdvice) != 0)
    known = madvise(page, 0, advice) == 0;
  munmap(page, pageBytes);
  return known;
}

/// Moves a mapping of one large page that is never touched nor reserved, so
/// that it works with an empty pool as well.
static std::optional<bool> movesLargePages() {
  constexpr size_t bytes = largePageBytes;
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *space = mmap(nullptr, 3 * bytes, PROT_NONE, flags, -1, 0);
  if (space == MAP_FAILED)
    return std::nullopt;
  char *first = reinterpret_cast<char *>(
      (reinterpret_cast<uintptr_t>(space) + bytes - 1) & ~(bytes - 1));
  std::optional<bool> moves;
  constexpr int twoMebibytes = 21 << 26; // MAP_HUGE_2MB
  void *page = mmap(first, bytes, PROT_NONE,
                    flags | MAP_FIXED | MAP_HUGETLB | twoMebibytes, -1, 0);
  if (page != MAP_FAILED) {
    moves = mremap(page, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                   first + bytes) != MAP_FAILED;
    munmap(first, bytes);
    munmap(first + bytes, bytes);
  }
  munmap(space, 3 * bytes);
  return moves;
}

KernelFacts mpg::readKernelFacts(const SysTree &tree) {
  KernelFacts facts;
  if (Fact<std::string> release = tree.line("/proc/sys/kernel/osrelease"))
    parseVersion(*release, facts);
  auto add = [&](const char *name, unsigned major, unsigned minor,
                 std::optional<bool> probed) {
    KernelFeature feature{name, probed, probed.has_value()};
    if (!probed && facts.major)
      feature.present =
          std::pair(facts.major, facts.minor) >= std::pair(major, minor);
    facts.features.push_back(feature);
  };
  bool live = tree.isLive();
  std::optional<bool> none;
  // A shortage is an error, not a SIGBUS.
  add("populate-write", 5, 14, live ? knowsAdvice(advicePopulateWrite) : none);
  // Memory in use becomes transparent huge pages at once.
  add("collapse", 6, 1, live ? knowsAdvice(adviceCollapse) : none);
  // .data moves without a second copy.
  add("move-hugetlb", 5, 16, live ? movesLargePages() : none);
  // A kernel without transparent huge pages has no sizes of them either.
  const std::string folder = "/sys/kernel/mm/transparent_hugepage";
  std::optional<bool> sizes;
  if (tree.exists(folder))
    sizes = tree.exists(folder + "/hugepages-" + sysfsSize(largePageBytes));
  add("sized-transparent", 6, 8, sizes);
  // Pages of the pool can count as memory of a job.
  add("hugetlb-accounting", 6, 7, none);
  return facts;
}
