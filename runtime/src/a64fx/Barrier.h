// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg_barrier_* (<mpg/mpg.h>) on a device that is given.

#ifndef MPG_RUNTIME_BARRIER_H
#define MPG_RUNTIME_BARRIER_H

#include "a64fx/BarrierDevice.h"
#include "mpg/mpg.h"

namespace mpg {

/// As mpg_barrier_init().
int makeBarrier(const BarrierDevice &device, mpg_barrier **barrier,
                unsigned threads);

} // namespace mpg

#endif // MPG_RUNTIME_BARRIER_H
