// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transparent huge pages (THP): the kernel's switches, the sizes it can give,
// and what they come to for 2 MiB pages of a program that asks.

#ifndef MPG_NODE_TRANSPARENT_H
#define MPG_NODE_TRANSPARENT_H

#include "Node/SysTree.h"

namespace mpg {

/// One size with a switch of its own (Linux 6.8 and later).
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
  Fact<uint64_t> pageBytes;        ///< the size without a switch of its own
  Fact<uint64_t> collapserDefrag;  ///< khugepaged: 0 leaves memory as it is
  Fact<uint64_t> collapserScanPages, collapserSleepMs, collapserEmptyPages;
  std::vector<TransparentSize> sizes; ///< in order; empty before Linux 6.8
  /// 0 if this process, and so its job, has them switched off (prctl).
  Fact<uint64_t> processEnabled;

  /// What decides for pages of \p bytes: "always", "madvise" or "never".
  Fact<std::string> effective(uint64_t bytes) const;
};

TransparentFacts readTransparentFacts(const SysTree &tree);

} // namespace mpg

#endif // MPG_NODE_TRANSPARENT_H
