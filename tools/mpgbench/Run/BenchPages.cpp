// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which kinds of pages a node has, and why it cannot give some of them now.

#include "Node/Verdict.h"
#include "Support/Format.h"
#include "mpgbench/Run/BenchMemory.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

static constexpr uint64_t gigabytePageBytes = 1 << 30;

std::string mpg::sizeName(uint64_t bytes) {
  static constexpr const char *units[] = {"", "K", "M", "G"};
  unsigned unit = 0;
  while (unit < 3 && bytes && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + units[unit];
}

static const HugePool *findPool(const PageFacts &pages, uint64_t pageBytes) {
  if (pages.pools)
    for (const HugePool &pool : *pages.pools)
      if (pool.pageBytes == pageBytes)
        return &pool;
  return nullptr;
}

/// Transparent ones and 2 MiB always: where a kernel has none, that is said.
static std::vector<PageKind> kindsOf(const PageFacts &pages,
                                     const TransparentFacts &transparent) {
  uint64_t base = pages.baseBytes.valueOr(4096);
  std::vector<PageKind> kinds = {
      {sizeName(base), base, false, false},
      {"THP", transparent.pageBytes.valueOr(largePageBytes), false, true}};
  // By name and size, never the kernel's default size, which is 512 MiB on
  // AArch64 with base pages of 64 KiB. HW:huge-sizes-64k
  for (uint64_t bytes : {largePageBytes, gigabytePageBytes})
    if (bytes == largePageBytes || findPool(pages, bytes))
      kinds.push_back({sizeName(bytes), bytes, true, false});
  return kinds;
}

std::vector<PageKind> mpg::pageKinds(const Node &node) {
  return kindsOf(node.pages, node.transparent);
}

Expected<PageKind> mpg::findPageKind(StringRef name) {
  SysTree tree("/");
  std::string names;
  for (PageKind &kind :
       kindsOf(readPageFacts(tree), readTransparentFacts(tree))) {
    if (kind.name == name)
      return std::move(kind);
    names += (names.empty() ? "" : ", ") + kind.name;
  }
  return createStringError("pages=" + printable(name) + ": this kernel has " +
                           names);
}

//===----------------------------------------------------------------------===//
// Why not now
//===----------------------------------------------------------------------===//

/// \p a - \p b, and 0 instead of less.
static uint64_t lessOf(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

/// Pages of \p pool that are neither held nor promised.
static uint64_t unclaimed(const HugePool &pool) {
  return lessOf(pool.free.valueOr(0), pool.reserved.valueOr(0));
}

static uint64_t pagesFor(uint64_t bytes, uint64_t pageBytes) {
  return bytes / pageBytes + (bytes % pageBytes != 0);
}

/// Pages that are missing in \p pool for \p bytes. The pool may grow by its
/// overcommit, if the kernel finds memory in one piece; mmap tells.
static uint64_t missingPages(const HugePool &pool, uint64_t bytes) {
  uint64_t mayGrow =
      lessOf(pool.overcommit.valueOr(0), pool.surplus.valueOr(0));
  return lessOf(pagesFor(bytes, pool.pageBytes),
                addCapped(unclaimed(pool), mayGrow));
}

std::string mpg::poolShortage(const PageFacts &pages, uint64_t pageBytes,
                              uint64_t bytes) {
  if (!pages.pools)
    return pages.pools.unknown;
  const HugePool *pool = findPool(pages, pageBytes);
  if (!pool)
    return "this kernel has no large pages of " + formatBytes(pageBytes);
  if (missingPages(*pool, bytes) == 0)
    return "";
  uint64_t wanted = pagesFor(bytes, pageBytes);
  return std::to_string(wanted) + (wanted == 1 ? " page of " : " pages of ") +
         formatBytes(pageBytes) + (wanted == 1 ? " is" : " are") +
         " needed, and " + std::to_string(unclaimed(*pool)) + " of " +
         std::to_string(pool->total.valueOr(0)) + " are free";
}

static std::string growCommand(const Node &node, const HugePool &pool,
                               uint64_t bytes) {
  uint64_t more = missingPages(pool, bytes);
  if (pool.pageBytes == largePageBytes)
    return growCommands(node, more).front();
  return "echo " + std::to_string(addCapped(pool.total.valueOr(0), more)) +
         " > /sys/kernel/mm/hugepages/hugepages-" + sysfsSize(pool.pageBytes) +
         "/nr_hugepages";
}

static std::string whyNoPool(const Node &node, const PageKind &kind,
                             uint64_t bytes) {
  std::string shortage = poolShortage(node.pages, kind.pageBytes, bytes);
  if (!shortage.empty()) {
    const HugePool *pool = findPool(node.pages, kind.pageBytes);
    return pool ? shortage + "; " + growCommand(node, *pool, bytes) : shortage;
  }
  // The control groups' limits that were read are those of 2 MiB pages.
  const GroupLimit *limit = node.cgroups.largePages.tightest();
  if (kind.pageBytes == largePageBytes && limit && limit->leftBytes() < bytes)
    return "the control group leaves " + formatBytes(limit->leftBytes()) +
           " of large pages, and " + formatBytes(bytes) + " are needed; " +
           limit->liftCommand();
  return "";
}

static std::string whyNoTransparent(const TransparentFacts &facts,
                                    const PageKind &kind) {
  if (!facts.present)
    return "whether there are transparent huge pages is not known: " +
           facts.present.unknown;
  if (!*facts.present)
    return "this kernel has no transparent huge pages";
  Fact<std::string> word = facts.effective(kind.pageBytes);
  if (!word || *word != "never")
    return "";
  if (facts.processEnabled.valueOr(1) == 0)
    return "this job has transparent huge pages switched off";
  return "transparent huge pages are off (never); echo madvise > "
         "/sys/kernel/mm/transparent_hugepage/enabled";
}

std::string mpg::whyNotNow(const Node &node, const PageKind &kind,
                           uint64_t bytes) {
  if (kind.isHugetlb)
    return whyNoPool(node, kind, bytes);
  std::string why =
      kind.isTransparent ? whyNoTransparent(node.transparent, kind) : "";
  if (!why.empty())
    return why;
  if (node.pages.availableBytes && *node.pages.availableBytes < bytes)
    return formatBytes(bytes) + " of memory are needed, and " +
           formatBytes(*node.pages.availableBytes) + " are available";
  return "";
}

//===----------------------------------------------------------------------===//
// What came
//===----------------------------------------------------------------------===//

std::string mpg::checkBackingOn(StringRef pages, const Backing &backing) {
  uint64_t present =
      backing.normalBytes + backing.thpBytes + backing.hugetlbBytes;
  uint64_t right = backing.normalBytes;
  if (pages == "THP")
    right = backing.thpBytes;
  else if (pages == "2M" || pages == "1G")
    right = backing.hugetlbBytes;
  if (present == 0)
    return "/proc/self/smaps shows nothing of the memory";
  if (right >= present - present / 10)
    return "";
  return "only " + formatBytes(right) + " of " + formatBytes(present) +
         " lie on " + pages.str() + " pages";
}
