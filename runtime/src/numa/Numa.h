// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the NUMA functions of <mpg/mpg.h> and mpg_first_touch (<mpg/pass.h>)
// need to know from start-up, and what they have done there; where pages lie;
// and the program's team of threads.

#ifndef MPG_RUNTIME_NUMA_H
#define MPG_RUNTIME_NUMA_H

#include "base/Env.h"
#include "base/Messages.h"
#include "base/Range.h"
#include <stdint.h>

namespace mpg {

/// Which pages the functions of Numa.cpp may use. Without this call (libmpg is
/// off, or not meant) they use normal ones.
void startNuma(const Config &config);

/// Without this call mpg_replicate does its work and says nothing.
void startReplicate(Messages &messages);

/// Without this call mpg_first_touch does its work and warns of nothing.
/// \p heap: addresses of libmpg's heap, if it serves malloc.
void startFirstTouch(const Config &config, Range heap, Messages &messages);

/// Pages in \p bss, which is on large pages, where the threads that may use it
/// will stand, if config.bssInParts; else it says why nothing is done.
/// pre: the process has one thread.
void touchAtStart(Range bss, const Config &config, Messages &messages);

//===----------------------------------------------------------------------===//
// Where pages lie (Where.cpp)
//===----------------------------------------------------------------------===//
//
// On which NUMA nodes the pages of a range lie: what mpg_where and
// mpg_print_where (<mpg/mpg.h>) tell, and what mpg_replicate looks at. The
// kernel is asked for each page; nothing is touched and nothing allocated.

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

#endif // MPG_RUNTIME_NUMA_H
