// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How OpenMP shares the iterations of a loop out over a team of threads:
// arithmetic only. schedule(static) and schedule(static, chunk), the two whose
// outcome is known before the loop runs.

#ifndef MPG_RUNTIME_SHAREDLOOP_H
#define MPG_RUNTIME_SHAREDLOOP_H

#include <stdint.h>

namespace mpg {

/// pre of the functions below: threads is not 0, and chunk is not 0 if sched
/// is 1.
struct SharedLoop {
  uint64_t iterations;
  uint32_t sched; ///< 0 block, 1 chunk
  uint64_t chunk; ///< iterations, for sched 1
  uint32_t threads;
};

/// The \p turn-th part of thread \p thread, as first iteration and first behind
/// it; false when the thread has no further part. Block: the first
/// iterations % threads threads have one iteration more, as libomp and libgomp
/// do it. pre: \p thread is less than loop.threads.
bool partOf(const SharedLoop &loop, uint32_t thread, uint64_t turn,
            uint64_t &first, uint64_t &behind);

/// The thread that works on \p iteration. pre: it is one of the loop's.
uint32_t ownerOf(const SharedLoop &loop, uint64_t iteration);

} // namespace mpg

#endif // MPG_RUNTIME_SHAREDLOOP_H
