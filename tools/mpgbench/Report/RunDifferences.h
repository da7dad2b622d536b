// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What two runs differ in beside their times: the machine, the sizes, the
// version.

#ifndef MPG_TOOLS_MPGBENCH_REPORT_RUNDIFFERENCES_H
#define MPG_TOOLS_MPGBENCH_REPORT_RUNDIFFERENCES_H

#include "mpgbench/Run/BenchResult.h"

namespace mpg {

/// "what: before; then after" as an indented paragraph.
void writeDifference(llvm::raw_ostream &out, llvm::StringRef what,
                     llvm::StringRef before, llvm::StringRef after);

/// Nothing if there are none.
void writeRunDifferences(llvm::raw_ostream &out, const BenchRun &before,
                         const BenchRun &after);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_REPORT_RUNDIFFERENCES_H
