// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An experiment: a plan of points, the way a worker process measures one of
// them, and the conclusions. Each repetition of each point is a separate
// process, started in random order. So no point warms up another one, and
// differences between processes (where the pages lie) are part of the spread,
// as for the user's program.

#pragma once

#include "Node/Node.h"
#include "mpgbench/Run/BenchResult.h"

namespace mpg {

/// The facts that a plan may depend on.
struct PlanContext {
  const Node &node;
  unsigned cpus;        ///< that this process may use
  bool quick;           ///< small arrays: seconds for each experiment
  bool hasRuntime;      ///< libmpgrt.so is there to be preloaded
  uint64_t memoryBytes; ///< that one worker may use
};

struct PlannedPoint {
  Parameters parameters;
  std::string missing = {}; ///< why it cannot be measured here; "" if it can
  /// libmpg is preloaded, with these settings.
  bool needsRuntime = false;
  std::vector<std::pair<std::string, std::string>> environment = {};
};

/// For experiments whose figures the guide does not have.
inline std::vector<GuideFigure> noGuide() { return {}; }

struct Experiment : ExperimentInfo {
  std::vector<PlannedPoint> (*plan)(const PlanContext &context);
  /// Runs in the worker. Warms up, measures, and returns one value: the median
  /// of its inner repetitions. Never ends the process; what cannot be had is
  /// an error in the result.
  WorkerResult (*measure)(const Parameters &parameters);
  /// Fills result.conclusions. Points without samples and busy ones give
  /// sentences of the kinds notMeasured and undecided.
  void (*conclude)(ExperimentResult &result);
  std::vector<GuideFigure> (*guide)() = noGuide;
};

/// All of them, in the order of `mpgbench list`.
#define MPG_EXPERIMENTS(EXPERIMENT)                                            \
  EXPERIMENT(latency)                                                          \
  EXPERIMENT(tlb)                                                              \
  EXPERIMENT(chase)                                                            \
  EXPERIMENT(triad)                                                            \
  EXPERIMENT(stride)                                                           \
  EXPERIMENT(mix)                                                              \
  EXPERIMENT(loaded)                                                           \
  EXPERIMENT(gups)                                                             \
  EXPERIMENT(saxpy)                                                            \
  EXPERIMENT(numa)                                                             \
  EXPERIMENT(vary)                                                             \
  EXPERIMENT(fault)                                                            \
  EXPERIMENT(embed)                                                            \
  EXPERIMENT(arena)                                                            \
  EXPERIMENT(thresh)

#define MPG_DECLARE_EXPERIMENT(name) extern const Experiment name##Experiment;
MPG_EXPERIMENTS(MPG_DECLARE_EXPERIMENT)
#undef MPG_DECLARE_EXPERIMENT

/// A program with this list needs the kernels of libmpg at link time.
inline constexpr const Experiment *experimentList[] = {
#define MPG_EXPERIMENT_ENTRY(name) &name##Experiment,
    MPG_EXPERIMENTS(MPG_EXPERIMENT_ENTRY)
#undef MPG_EXPERIMENT_ENTRY
};

/// "triad/pages=2M/threads=1".
std::string pointName(llvm::StringRef experiment, const Parameters &parameters);

/// The point of \p result whose parameters include all of \p wanted, or null.
const PointResult *findPoint(const ExperimentResult &result,
                             const Parameters &wanted);

/// How much better \p after is than \p before, 2 being twice as good whatever
/// the unit; over the rounds that both have. One sentence: \p what, the ratio
/// and its interval, such as "2M pages against 4K: 1.25x faster [1.20, 1.31]".
/// yes: the whole interval is at \p bar or above; no: all of it below;
/// undecided: neither, or the machine was busy; notMeasured: samples are
/// missing on one side, and the text says why.
Conclusion compareRounds(const ExperimentResult &result,
                         const PointResult *before, const PointResult *after,
                         llvm::StringRef what, double bar = 1.0);

} // namespace mpg
