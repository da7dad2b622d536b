// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the NUMA functions of <mpg/mpg.h> and mpg_first_touch (<mpg/pass.h>)
// need to know from start-up.

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

} // namespace mpg

#endif // MPG_RUNTIME_NUMA_H
