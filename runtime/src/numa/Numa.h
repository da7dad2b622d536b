// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Start-up settings and results of the NUMA functions of <mpg/mpg.h> and of
// mpg_first_touch (<mpg/pass.h>); the placement of pages; and the program's
// team of threads.

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

/// Without this call mpg_replicate works but prints nothing.
void startReplicate(Messages &messages);

/// Without this call mpg_first_touch works but prints no warnings. \p heap:
/// addresses of libmpg's heap, if it serves malloc.
void startFirstTouch(const Config &config, Range heap, Messages &messages);

/// If config.bssInParts, pages in \p bss, which is on large pages, on the nodes
/// where the threads that may use it will run; if it does nothing, it prints
/// why. pre: the process has one thread.
void touchAtStart(Range bss, const Config &config, Messages &messages);

// Where pages lie (Where.cpp). The NUMA nodes of the pages of a range, for
// mpg_where and mpg_print_where (<mpg/mpg.h>) and for mpg_replicate. Asks the
// kernel for each page; touches and allocates nothing.

/// Pages of one size on one node, or a part of such a page.
struct Found {
  int node;
  size_t bytes;     ///< those inside of the range that was asked for
  size_t pageBytes; ///< transparent large pages have the base size here
};

/// Calls \p visit with \p data for each present page of \p asked. Returns 0,
/// EFAULT if a part is not mapped, or another errno value if the system does
/// not report the nodes; \p visit may have been called for some pages by then.
int findPages(Range asked, void (*visit)(void *data, const Found &found),
              void *data);

/// The node that has all of \p range, on pages of at least \p pageBytes; -1 if
/// no node has, or it is unknown.
int computeHome(Range range, size_t pageBytes);

} // namespace mpg

#endif // MPG_RUNTIME_NUMA_H
