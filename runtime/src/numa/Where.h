// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On which NUMA nodes the pages of a range lie: what mpg_where and
// mpg_print_where (<mpg/mpg.h>) tell, and what mpg_replicate looks at. The
// kernel is asked for each page; nothing is touched and nothing allocated.

#ifndef MPG_RUNTIME_WHERE_H
#define MPG_RUNTIME_WHERE_H

#include "base/Range.h"

namespace mpg {

/// Pages of one size on one node, or a part of such a page.
struct Found {
  int node;
  size_t bytes;     ///< those inside of the range that was asked for
  size_t pageBytes; ///< transparent large pages have the base size here
};

/// Calls \p tell with \p data for each present page of \p asked. Returns 0,
/// EFAULT if a part is not mapped, or another errno value if the system does
/// not tell; some pages may have been told by then.
int findPages(Range asked, void (*tell)(void *data, const Found &found),
              void *data);

/// The node that has all of \p range, on pages of at least \p pageBytes; -1 if
/// there is none or it cannot be told.
int homeOf(Range range, size_t pageBytes);

} // namespace mpg

#endif // MPG_RUNTIME_WHERE_H
