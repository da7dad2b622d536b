// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of experiments. A file of its own: what includes it needs the
// kernels of libmpg at link time.

#include "mpgbench/Run/Experiment.h"

using namespace llvm;
using namespace mpg;

ArrayRef<const Experiment *> mpg::experiments() {
  static const Experiment *const list[] = {
      &latencyExperiment, &tlbExperiment,   &chaseExperiment,  &triadExperiment,
      &strideExperiment,  &mixExperiment,   &loadedExperiment, &gupsExperiment,
      &saxpyExperiment,   &numaExperiment,  &varyExperiment,   &faultExperiment,
      &embedExperiment,   &arenaExperiment, &threshExperiment};
  return list;
}

const Experiment *mpg::findExperiment(StringRef name) {
  for (const Experiment *experiment : experiments())
    if (experiment->name == name)
      return experiment;
  return nullptr;
}
