// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a worker of chase, latency and vary does: loads along one random cycle of
// cells, each of which waits for the one before.

#ifndef MPG_TOOLS_MPGBENCH_EXPERIMENTS_CHASEWORK_H
#define MPG_TOOLS_MPGBENCH_EXPERIMENTS_CHASEWORK_H

#include "mpgbench/Run/Experiment.h"

namespace mpg {

struct ChaseWork {
  const char *bytesName;               ///< the parameter with the bytes
  uint64_t seed;                       ///< of the cycle
  unsigned repeats;                    ///< of which the median counts
  uint64_t (*loadsOf)(uint64_t cells); ///< of one repetition
};

/// Measures a point with the parameters "pages", "stride" and that with the
/// bytes. Each repetition goes on where the last one ended. The value is the
/// nanoseconds of one load.
WorkerResult measureChase(const Parameters &parameters, const ChaseWork &work);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_EXPERIMENTS_CHASEWORK_H
