// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a part of a process's memory lies on pages: asked page by page where the
// kernel tells (PAGEMAP_SCAN, Linux 6.7), otherwise the part's share of what
// /proc/PID/smaps says of the whole mapping.

#ifndef MPG_PROFILE_PAGESCAN_H
#define MPG_PROFILE_PAGESCAN_H

#include "Process/Smaps.h"
#include <map>

namespace mpg {

struct PageUse {
  uint64_t usedBytes = 0;    ///< with memory behind them, or swapped out
  uint64_t hugeBytes = 0;    ///< of these on large pages
  uint64_t poolBytes = 0;    ///< of these from the pool; others: transparent
  uint64_t unknownBytes = 0; ///< may be on large pages or not
  uint64_t pageBytes = 0;    ///< the largest page
  std::map<int, uint64_t> nodes; ///< of pages that were looked at, on each
  void add(const PageUse &other);
};

class PageScan {
public:
  /// \p areas: of \p pid, in order; they live longer.
  PageScan(pid_t pid, const std::vector<MappedArea> &areas);
  ~PageScan();
  PageScan(const PageScan &) = delete;
  PageScan &operator=(const PageScan &) = delete;

  /// \p nodePages: of so many pages it is asked on which node they are.
  PageUse look(uint64_t start, uint64_t end, unsigned nodePages) const;

private:
  bool scan(uint64_t start, uint64_t end, PageUse &use) const;
  void lookAt(const MappedArea &area, uint64_t start, uint64_t end,
              PageUse &use) const;
  void findNodes(uint64_t start, uint64_t end, unsigned pages,
                 PageUse &use) const;

  pid_t pid;
  const std::vector<MappedArea> &areas;
  int pagemap;
};

} // namespace mpg

#endif // MPG_PROFILE_PAGESCAN_H
