// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Carries out a comparison: rounds of runs, what is left out because it fails,
// and how outputs differ.

#ifndef MPG_TOOLS_MPGRUN_COMPARE_COMPAREDRIVER_H
#define MPG_TOOLS_MPGRUN_COMPARE_COMPAREDRIVER_H

#include "mpgrun/Compare/CompareResult.h"

namespace mpg {

/// How the program is run in one mode.
struct ModePlan {
  std::string name;
  bool usesLibmpg = false;
  std::vector<std::string> environment; ///< "NAME=VALUE"
  std::vector<unsigned> interleaveNodes;
  std::string missing; ///< why it cannot be run; empty: it can
};

struct ComparePlan {
  std::string path; ///< of the program
  std::vector<ModePlan> modes;
  bool trace = true;          ///< look at the program's memory in the warm-up
  bool showsProgress = false; ///< on standard error
};

/// What keeps a comparison from being one at all.
struct CompareEnd {
  std::string error;     ///< the system refused something
  int execError = 0;     ///< the program cannot be run: errno of exec
  int interruptedBy = 0; ///< a signal
};

/// Fills in what is measured; \p comparison holds the command, the metric,
/// the number of rounds and the seed.
/// pre: one thread; nothing else of this process waits for children.
CompareEnd driveComparison(const ComparePlan &plan, Comparison &comparison);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_COMPARE_COMPAREDRIVER_H
