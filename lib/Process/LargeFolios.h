// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transparent pages of 2 MiB that smaps does not count. Its AnonHugePages are
// those that one entry of the upper page table maps: 2 MiB where the base page
// is 4 KiB, but 512 MiB where it is 64 KiB. There 32 joined base pages make
// 2 MiB (HW:huge-sizes-64k), and only /proc/kpageflags, which is root's, shows
// them. Without it they are "not known", never 0.

#ifndef MPG_PROCESS_LARGEFOLIOS_H
#define MPG_PROCESS_LARGEFOLIOS_H

#include "Node/HugePages.h"
#include "Process/Smaps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mpg {

/// What one entry of the upper page table maps.
uint64_t upperPageBytes(uint64_t baseBytes);

/// Whether transparent pages of at least 2 MiB can be there that smaps does not
/// count: for memory that asked for large pages (\p isAdvised), or for any.
bool mayBeUncounted(const TransparentFacts &facts, uint64_t baseBytes,
                    bool isAdvised);

/// For whoever reads "not known".
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

/// Whether smaps of this machine counts all transparent pages of 2 MiB.
bool countsAllThp();

/// Adds to \p areas of process \p pid, as smaps has them, what smaps left out.
void addLargeFolios(pid_t pid, std::vector<MappedArea> &areas);

} // namespace mpg

#endif // MPG_PROCESS_LARGEFOLIOS_H
