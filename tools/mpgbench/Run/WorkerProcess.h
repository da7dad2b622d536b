// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One repetition of one point in a separate process.

#pragma once

#include "mpgbench/Run/Experiment.h"

namespace mpg {

struct WorkerCommand {
  std::string program;                  ///< this program
  std::vector<std::string> arguments;   ///< from argv[0] on
  std::vector<std::string> environment; ///< "NAME=VALUE"
  unsigned limitSeconds = 0;            ///< it is killed after these
};

/// The environment of this process without what the point decides (variables of
/// libmpg, of malloc and of OpenMP's threads), and with that of the point.
/// \p library: preloaded; "": nothing is.
std::vector<std::string>
workerEnvironment(const std::vector<std::pair<std::string, std::string>> &point,
                  llvm::StringRef library);

/// Runs it to its end. A failure is the error of the result: the worker cannot
/// be started, dies of a signal, takes too long, or prints something else than
/// a result. The error names the last line of its standard error.
WorkerResult runWorkerProcess(const WorkerCommand &command);

/// For signal handlers: kills the worker that runs, and each that is started
/// from now on. Whether it was called.
void endWorkers();
bool areWorkersEnded();

} // namespace mpg
