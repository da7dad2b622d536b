// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The environment that a program gets from mpgrun.

#ifndef MPG_TOOLS_MPGRUN_ENVIRONMENT_H
#define MPG_TOOLS_MPGRUN_ENVIRONMENT_H

#include "Options.h"
#include "Process/Program.h"
#include <utility>

namespace mpg {

/// Name and value of what is set beside what is there.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// For \p program with libmpg preloaded. \p mode: empty leaves MPG_MODE as it
/// is; \p stateFd: where libmpg shall tell what it did, or below zero.
Settings libmpgSettings(const RunOptions &options, const Program &program,
                        const std::string &libraryPath, llvm::StringRef mode,
                        int stateFd);

/// The variable by which libibverbs is asked to survive a fork, if mpgrun has
/// to add the one for large pages; else null.
const char *rdmaForkVariable(const Program &program, llvm::StringRef mode);

/// Changes the environment of this process. What an outer mpgrun said to its
/// program alone is taken away.
void applySettings(const Settings &settings, bool children);

/// The environment of this process with such changes, "NAME=VALUE".
std::vector<std::string> environmentWith(const Settings &settings,
                                         bool children);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_ENVIRONMENT_H
