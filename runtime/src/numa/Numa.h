// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the NUMA functions of <mpg/mpg.h> need to know from start-up.

#ifndef MPG_RUNTIME_NUMA_H
#define MPG_RUNTIME_NUMA_H

#include "base/Env.h"

namespace mpg {

/// Which pages they may use. Without this call (libmpg is off, or not meant)
/// they use normal ones.
void startNuma(const Config &config);

} // namespace mpg

#endif // MPG_RUNTIME_NUMA_H
