// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Page sizes, the pools of large pages (hugetlb), and how many 2 MiB pages the
// kernel could still cut out of free memory, from /proc/buddyinfo. Only pages
// of 2 MiB are counted there: that is the size libmpg takes unless told
// otherwise, and on a base page of 64 KiB it is not the kernel's default.

#pragma once

#include "Node/SysTree.h"

namespace mpg {

/// The large page that everything here is about.
constexpr uint64_t largePageBytes = 2 << 20;

/// Address space for \p bytes from a border of large pages on, for mappings at
/// fixed addresses. The destructor unmaps these, too.
class LargeSpace {
public:
  explicit LargeSpace(uint64_t bytes);
  ~LargeSpace();
  LargeSpace(const LargeSpace &) = delete;
  LargeSpace &operator=(const LargeSpace &) = delete;
  /// Null: the process has no such space left.
  char *start() const;

private:
  const uint64_t bytes; ///< of `space`
  void *const space;
};

/// "2048kB", as sysfs writes the size of a page in names.
std::string sysfsSize(uint64_t bytes);

/// A pool; counts are in pages.
struct HugePool {
  uint64_t pageBytes = 0;
  Fact<uint64_t> total, free, reserved, surplus, overcommit;
};

/// Free memory of one zone of one NUMA node.
struct FreeBlocks {
  unsigned node = 0;
  std::string zone;
  std::vector<uint64_t> blocks; ///< [order]: free blocks of 2^order base pages
  /// Large pages that fit in blocks of at least their size.
  uint64_t largePages(uint64_t baseBytes) const;
};

struct PageFacts {
  Fact<uint64_t> baseBytes;
  /// The page size of vm.nr_hugepages and of a mapping without a size.
  Fact<uint64_t> defaultHugeBytes;
  Fact<std::vector<HugePool>> pools; ///< by size
  Fact<std::vector<FreeBlocks>> freeBlocks;
  Fact<uint64_t> memoryBytes, availableBytes;

  /// The pool of 2 MiB pages; null if there is none or it is not known.
  const HugePool *largePool() const;
};

PageFacts readPageFacts(const SysTree &tree);

/// One size with a separate switch (Linux 6.8 and later).
struct TransparentSize {
  uint64_t pageBytes = 0;
  Fact<std::string> enabled; ///< always, inherit, madvise, never
};

struct TransparentFacts {
  /// Whether the kernel has them at all.
  Fact<bool> present;
  Fact<std::string> enabled;       ///< always, madvise, never
  Fact<std::string> defrag;        ///< how hard a page fault tries
  Fact<std::string> sharedEnabled; ///< for shared memory
  Fact<uint64_t> pageBytes;        ///< the size without a separate switch
  Fact<uint64_t> collapserDefrag;  ///< khugepaged: 0 leaves memory as it is
  Fact<uint64_t> collapserScanPages, collapserSleepMs, collapserEmptyPages;
  std::vector<TransparentSize> sizes; ///< in order; empty before Linux 6.8
  /// 0 if this process, and so its job, has them switched off (prctl).
  Fact<uint64_t> processEnabled;

  /// The setting for pages of \p bytes: "always", "madvise" or "never".
  Fact<std::string> effective(uint64_t bytes) const;
};

TransparentFacts readTransparentFacts(const SysTree &tree);

} // namespace mpg
