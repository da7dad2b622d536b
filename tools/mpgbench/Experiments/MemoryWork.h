// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work that several experiments share. Workers read memory in streams, to see
// how many bytes it moves, or chase pointers through it, to see how long one
// load takes. This also finds levels in the resulting curves.

#pragma once

#include "mpgbench/Run/BenchMemory.h"
#include "mpgbench/Run/Experiment.h"

namespace mpg {

// Streams

/// The unit in which streams read and write: the longest line of a cache that
/// this project knows. HW:a64fx-l1d-way
struct alignas(256) Block {
  uint64_t words[32];
};

/// Reads all words of [begin, end). The sum, so that no compiler leaves the
/// reading out; it goes to keep().
uint64_t readBlocks(const Block *begin, const Block *end);

/// Makes \p value needed.
inline void keep(uint64_t value) { asm volatile("" : : "r"(value)); }

/// Writes into each block of [begin, end), so that it has a page.
void touchBlocks(Block *begin, Block *end);

// Chases. Loads along one random cycle of cells, each of which waits for the
// one before.

struct ChaseWork {
  const char *bytesName;                ///< the parameter with the bytes
  uint64_t seed;                        ///< of the cycle
  unsigned repeats;                     ///< of which the median counts
  uint64_t (*getLoads)(uint64_t cells); ///< of one repetition
};

/// A point for each of \p sizes on each of \p kinds, with what measureChase
/// needs. \p stride is that of cells, as sizeName.
std::vector<PlannedPoint> planChase(const PlanContext &context,
                                    llvm::ArrayRef<PageKind> kinds,
                                    llvm::ArrayRef<uint64_t> sizes,
                                    const char *bytesName,
                                    const std::string &stride);

/// Measures a point with the parameters "pages", "stride" and that with the
/// bytes. Each repetition goes on where the last one ended. The value is the
/// nanoseconds of one load.
WorkerResult measureChase(const Parameters &parameters, const ChaseWork &work);

// Levels in a curve of latencies: caches or TLBs, each of which answers up to
// its capacity in about the same time.

/// A plateau of a curve.
struct Level {
  size_t first, last; ///< its points; the next level begins after them
  double value;       ///< median of its points
};

/// Levels of a curve whose points are in order of the footprint. A plateau is
/// at least two points that differ by no more than a sixth; two that differ by
/// less than a quarter are one. Points between them, where a part of the
/// footprint still finds room, belong to none.
std::vector<Level> findLevels(llvm::ArrayRef<double> curve);

/// The points of \p result with \p parameters that have samples, by the number
/// or size that parameter \p x names.
std::vector<const PointResult *> getCurve(const ExperimentResult &result,
                                          const Parameters &parameters,
                                          llvm::StringRef x);

} // namespace mpg
