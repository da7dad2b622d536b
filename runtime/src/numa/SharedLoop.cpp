// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SharedLoop.h. No sum or product here is larger than the number of
// iterations, so none of them wraps.

#include "numa/SharedLoop.h"

using namespace mpg;

bool mpg::partOf(const SharedLoop &loop, uint32_t thread, uint64_t turn,
                 uint64_t &first, uint64_t &behind) {
  if (loop.sched == 0) {
    uint64_t share = loop.iterations / loop.threads;
    uint64_t extra = loop.iterations % loop.threads;
    first = thread * share + (thread < extra ? thread : extra);
    behind = first + share + (thread < extra ? 1 : 0);
    return turn == 0 && behind > first;
  }
  uint64_t chunks =
      loop.iterations / loop.chunk + (loop.iterations % loop.chunk != 0);
  if (thread >= chunks || turn > (chunks - 1 - thread) / loop.threads)
    return false;
  first = (turn * loop.threads + thread) * loop.chunk;
  behind = loop.iterations - first < loop.chunk ? loop.iterations
                                                : first + loop.chunk;
  return true;
}

uint32_t mpg::ownerOf(const SharedLoop &loop, uint64_t iteration) {
  if (loop.sched == 1)
    return uint32_t(iteration / loop.chunk % loop.threads);
  uint64_t share = loop.iterations / loop.threads;
  uint64_t extra = loop.iterations % loop.threads;
  uint64_t inLargerBlocks = extra * (share + 1);
  if (iteration < inLargerBlocks)
    return uint32_t(iteration / (share + 1));
  return uint32_t(extra + (iteration - inLargerBlocks) / share);
}
