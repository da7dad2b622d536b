// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results that may be given to anybody: nothing in them names the machine, its
// owner or a place in its file system.

#ifndef MPG_TOOLS_MPGBENCH_REPORT_BENCHANONYMOUS_H
#define MPG_TOOLS_MPGBENCH_REPORT_BENCHANONYMOUS_H

#include "mpgbench/Run/BenchResult.h"

namespace mpg {

/// Names of this machine and of who runs the program, as they may stand in
/// messages of the system.
std::vector<std::string> namesOfThisPlace();

/// \p text with "(path)" for each absolute path and "(name)" for each word out
/// of \p names.
std::string anonymised(llvm::StringRef text,
                       const std::vector<std::string> &names);

/// Does that to all texts of \p run that are not the program's own, leaves the
/// day of its date, adds the versions of C library and compiler, and takes out
/// what every sample repeats about counters that the machine does not have.
void anonymise(BenchRun &run, const std::vector<std::string> &names);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_REPORT_BENCHANONYMOUS_H
