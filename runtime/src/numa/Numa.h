// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the NUMA functions of <mpg/mpg.h> and mpg_first_touch (<mpg/pass.h>)
// need to know from start-up, and what they have done there.

#ifndef MPG_RUNTIME_NUMA_H
#define MPG_RUNTIME_NUMA_H

#include "base/Env.h"
#include "base/Messages.h"
#include "base/Range.h"

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

} // namespace mpg

#endif // MPG_RUNTIME_NUMA_H
