// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Levels in a curve of latencies: caches or TLBs, each of which answers up to
// its capacity in about the same time.

#ifndef MPG_TOOLS_MPGBENCH_EXPERIMENTS_LEVELS_H
#define MPG_TOOLS_MPGBENCH_EXPERIMENTS_LEVELS_H

#include "mpgbench/Run/BenchResult.h"

namespace mpg {

/// A plateau of a curve.
struct Level {
  size_t first, last; ///< its points; the next level begins behind them
  double value;       ///< median of its points
};

/// Those of a curve whose points stand in order of the footprint. A plateau is
/// at least two points that differ by no more than a sixth; two that differ by
/// less than a quarter are one. Points between them, where a part of the
/// footprint still finds room, belong to none.
std::vector<Level> findLevels(llvm::ArrayRef<double> curve);

/// The points of \p result with \p parameters that have samples, by the number
/// or size that parameter \p x names.
std::vector<const PointResult *> curveOf(const ExperimentResult &result,
                                         const Parameters &parameters,
                                         llvm::StringRef x);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_EXPERIMENTS_LEVELS_H
