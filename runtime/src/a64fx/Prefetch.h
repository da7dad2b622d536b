// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg_prefetch_set (<mpg/mpg.h>) on a machine that is given.

#ifndef MPG_RUNTIME_PREFETCH_H
#define MPG_RUNTIME_PREFETCH_H

#include "a64fx/ThisMachine.h"
#include "mpg/mpg.h"

namespace mpg {

/// Checks everything before it writes anything. Returns 0 or what failWith()
/// returns.
int setPrefetch(const Machine &machine, int entry, const mpg_prefetch *asked);

} // namespace mpg

#endif // MPG_RUNTIME_PREFETCH_H
