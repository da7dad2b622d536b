// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Start-up settings and results of the NUMA functions of <mpg/mpg.h> and of
// mpg_first_touch (<mpg/pass.h>); the placement of pages; and the program's
// team of threads.

#pragma once

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

/// The node that has all of \p range (Where.cpp), on pages of at least \p
/// pageBytes; -1 if no node has, or it is unknown.
int computeHome(Range range, size_t pageBytes);

} // namespace mpg
