// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgrun --compare: makes the plan out of the options, lets Compare/ carry it
// out, and writes the report.

#ifndef MPG_TOOLS_MPGRUN_COMPARE_H
#define MPG_TOOLS_MPGRUN_COMPARE_H

#include "Options.h"
#include "Process/Program.h"

namespace mpg {

/// The exit status of mpgrun.
/// pre: \p options ask for a comparison; \p program can be tried.
int runComparison(const RunOptions &options, const Program &program,
                  const std::string &libraryPath);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_COMPARE_H
