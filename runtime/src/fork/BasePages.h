// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Base pages in memory that libmpg has put onto hugetlb pages: the kernel
// cannot protect, unmap, move or mark a part of such a page. If a program asks
// for that, its memory first moves to normal pages, frame by frame (a frame is
// the extent of one large page), with the same contents and rights, and no
// thread notices.

#pragma once

#include "base/Env.h"
#include "base/Messages.h"
#include "pages/Pages.h"

namespace mpg {

/// From here on the functions below act. Call once, before the first thread.
void startBasePages(const Config &config, Messages &messages);

enum class Frames : uint8_t {
  atEdges, ///< those that the range covers in part: the kernel can do the rest
  all,     ///< for what cannot be done with hugetlb memory at all
};

/// Puts normal pages under frames of \p range that libmpg has put onto large
/// ones. 0: something was moved, and the call that failed may be made again;
/// else an errno value: ENOENT nothing of it is ours, ENOMEM, EBUSY threads do
/// not stop or a device may write to the memory. Stops other threads meanwhile.
int leaveLargePages(Range range, Frames which);

/// Called before munmap frees \p bytes: mpgrun reports the program's memory at
/// its peak. Nearly free if mpgrun does not ask for it, or if \p bytes is
/// small.
void noteUnmap(size_t bytes);

/// Whether libmpg may have put anything onto large pages, transparent ones too.
bool hasLargePages();

/// Whether libmpg may have put memory of \p range onto large pages. Cheap.
bool mayBeLarge(Range range);

/// madvise() with an \p advice after which private memory is zero
/// (MADV_DONTNEED) or may be (MADV_FREE). Whole frames go back to the system,
/// and come as transparent huge or normal pages when they are touched again: a
/// page of the pool might be missing then. Parts of a frame are cleared. For
/// memory that is not ours it calls \p advise, the C library's madvise().
/// Returns an errno value; changes errno.
using Advise = int(void *, size_t, int);
int emptyPages(Range range, int advice, Advise *advise);

/// mlockall(MCL_CURRENT) for a process whose limit on locked memory allows no
/// more: without pages of the pool, which are never swapped, what nobody has
/// touched of the heap's tables and, if need be, of the process stack. Returns
/// an errno value.
int lockAllPages();

} // namespace mpg
