// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// /proc/PID/smaps and numa_maps as plain structs. Both are text that the kernel
// writes; unknown lines are skipped. Also finds the page sizes of a part of the
// memory, by these files or page by page.

#pragma once

#include "Node/HugePages.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mpg {

struct MappedArea {
  uint64_t start = 0, end = 0;
  bool readable = false, writable = false, executable = false, shared = false;
  bool isFile = false; ///< backed by a file that has a name, not a memfd
  std::string name;    ///< path, "[stack]", "/anon_hugepage (deleted)", ...
  uint64_t residentBytes = 0; ///< on pages of the base size, or THP
  /// The part of them that was accessed since a write to /proc/PID/clear_refs;
  /// nothing if the kernel does not report it.
  std::optional<uint64_t> accessedBytes;
  uint64_t thpBytes = 0;     ///< of these on transparent huge pages
  uint64_t thpPageBytes = 0; ///< the largest of those
  uint64_t unknownBytes = 0; ///< may be on such pages: the kernel hides it
  uint64_t middleBytes = 0;  ///< on transparent pages between base and 2 MiB
  bool isMiddleKnown = true; ///< false: there may be some, root is shown them
  uint64_t poolBytes = 0;    ///< pages of the pool that are present
  uint64_t pageBytes = 0;    ///< KernelPageSize
  bool hugetlb = false;
  bool asksForLargePages = false; ///< MADV_HUGEPAGE
  bool refusesLargePages = false; ///< MADV_NOHUGEPAGE, or MAP_STACK
  /// Bytes on each NUMA node; empty if the kernel does not report them.
  std::vector<uint64_t> nodes;

  uint64_t bytes() const { return end - start; }
  /// Present memory on pages of any size, and its part on large pages.
  uint64_t usedBytes() const { return hugetlb ? poolBytes : residentBytes; }
  uint64_t hugeBytes() const { return hugetlb ? poolBytes : thpBytes; }
  void addThp(uint64_t bytes, uint64_t ofPageBytes) {
    thpBytes += bytes;
    thpPageBytes = std::max(thpPageBytes, ofPageBytes);
  }
  /// Pages of the pool that are reserved and not touched yet.
  uint64_t setAsideBytes() const {
    return hugetlb && poolBytes < bytes() ? bytes() - poolBytes : 0;
  }
};

/// The file \p name of /proc/PID; empty if it cannot be read.
std::string readProc(pid_t pid, const char *name);

/// Code and constants of the file \p name: what nobody writes to. Copies of
/// MPG_TEXT=copy have no name; they are between parts of the file.
std::vector<const MappedArea *>
findUnchanging(const std::vector<MappedArea> &areas, llvm::StringRef name);

/// \p smaps and \p numaMaps as read from /proc; the latter may be empty.
std::vector<MappedArea> parseSmaps(llvm::StringRef smaps,
                                   llvm::StringRef numaMaps);

/// The same, with the large pages that smaps does not count (below). \p pid:
/// the process; 0: it is gone, so these are not known.
std::vector<MappedArea> parseProcessSmaps(pid_t pid, llvm::StringRef smaps,
                                          llvm::StringRef numaMaps);

/// Mappings of \p pid now, with transparent pages that smaps does not count;
/// empty if they may not be read.
std::vector<MappedArea> readSmaps(pid_t pid);

// Large pages that smaps does not count. Transparent pages of 2 MiB: the
// AnonHugePages of smaps are those that one entry of the upper page table maps:
// 2 MiB where the base page is 4 KiB, but 512 MiB where it is 64 KiB. There 32
// joined base pages make 2 MiB (HW:huge-sizes-64k), and only /proc/kpageflags,
// which is root's, shows them. Without it they are "not known", never 0.

/// The memory that one entry of the upper page table maps.
uint64_t upperPageBytes(uint64_t baseBytes);

/// Whether transparent pages of at least 2 MiB can be there that smaps does not
/// count: for memory that asked for large pages (\p isAdvised), or for any.
bool mayBeUncounted(const TransparentFacts &facts, uint64_t baseBytes,
                    bool isAdvised);

/// Explains "not known" to users.
extern const char *const whyNotKnown;

/// One word for each base page, as /proc/PID/pagemap has them, and, for the
/// frame of a page, as /proc/kpageflags has them. False: cannot be read.
using ReadWords = llvm::function_ref<bool(
    uint64_t first, llvm::MutableArrayRef<uint64_t> words)>;

/// Bytes of [\p start, \p end) in whole aligned pieces of 2 MiB whose base
/// pages lie side by side in one large page; nothing if frames are hidden.
std::optional<uint64_t> countLargeFolios(uint64_t start, uint64_t end,
                                         uint64_t baseBytes, ReadWords pagemap,
                                         ReadWords frameFlags);

/// Bytes of [\p start, \p end) on transparent pages that are larger than a
/// base page and smaller than 2 MiB (mTHP); nothing if frames are hidden.
std::optional<uint64_t> countMiddleFolios(uint64_t start, uint64_t end,
                                          uint64_t baseBytes, ReadWords pagemap,
                                          ReadWords frameFlags);

/// Whether this machine gives such pages to memory that asked for them.
bool mayHaveMiddle(const TransparentFacts &facts);

/// Whether smaps of this machine counts all transparent pages of 2 MiB.
bool countsAllThp();

/// Adds to \p areas of process \p pid, as smaps has them, what smaps left out.
void addLargeFolios(pid_t pid, std::vector<MappedArea> &areas);

/// The pages of a part of a process's memory.
struct PageUse {
  uint64_t usedBytes = 0;    ///< with memory behind them, or swapped out
  uint64_t hugeBytes = 0;    ///< of these on large pages
  uint64_t poolBytes = 0;    ///< of these from the pool; others: transparent
  uint64_t unknownBytes = 0; ///< may be on large pages or not
  uint64_t pageBytes = 0;    ///< the largest page
  std::map<int, uint64_t> nodes; ///< of pages that were looked at, on each
  void add(const PageUse &other);
};

/// Counts page by page where the kernel can (PAGEMAP_SCAN, Linux 6.7).
/// Elsewhere a part has its share of what /proc/PID/smaps has for the whole
/// mapping.
class PageScan {
public:
  /// \p areas: of \p pid, in order; they live longer.
  PageScan(pid_t pid, const std::vector<MappedArea> &areas);
  ~PageScan();
  PageScan(const PageScan &) = delete;
  PageScan &operator=(const PageScan &) = delete;

  /// \p nodePages: the number of pages whose node is looked up.
  PageUse inspect(uint64_t start, uint64_t end, unsigned nodePages) const;

private:
  bool scan(uint64_t start, uint64_t end, PageUse &use) const;
  void scanArea(const MappedArea &area, uint64_t start, uint64_t end,
                PageUse &use) const;
  void findNodes(uint64_t start, uint64_t end, unsigned pages,
                 PageUse &use) const;

  pid_t pid;
  const std::vector<MappedArea> &areas;
  int pagemap;
};

} // namespace mpg
