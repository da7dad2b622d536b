// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Carries out experiments: makes the plan, starts a worker process for each
// repetition of each point in random order, and collects what they say. A
// worker that fails, hangs or prints nonsense costs its own sample and nothing
// else.

#pragma once

#include "mpgbench/Run/Experiment.h"

namespace mpg {

struct DriveOptions {
  /// Experiments, or beginnings of points' names that end where a parameter
  /// does: "triad", "triad/pages=2M". Empty: everything.
  std::vector<std::string> names;
  bool quick = false;
  unsigned repetitions = 7;
  uint64_t seed = 1;
  std::string self;    ///< this program: a worker when it is asked to
  std::string library; ///< libmpgrt.so; "": points that need it are missing
  /// No round is begun that would end after it, but for the first; 0: no limit.
  unsigned limitSeconds = 0;
  bool isLimitStrict = false; ///< nor any point, and be it of the first round
  bool showsProgress = false; ///< on standard error
};

/// The experiments that \p options name, with all points of their plans that
/// it names, and no samples yet. An error names what is not there.
llvm::Expected<BenchRun> planExperiments(const DriveOptions &options,
                                         const Node &node);

/// Measures all points of \p run, which planExperiments made, and draws the
/// conclusions. Stops early, with what there is, after endWorkers().
/// pre: nothing else of this process waits for children.
void driveExperiments(BenchRun &run, const DriveOptions &options);

/// Runs a worker: \p words are an experiment and NAME=VALUE of each parameter.
/// Prints one result on standard output; the exit status.
int runWorker(llvm::ArrayRef<const char *> words);

} // namespace mpg
