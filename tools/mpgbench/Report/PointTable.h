// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of one experiment: a row for each point with samples. Whatever all
// points share stands above it once.

#ifndef MPG_TOOLS_MPGBENCH_REPORT_POINTTABLE_H
#define MPG_TOOLS_MPGBENCH_REPORT_POINTTABLE_H

#include "mpgbench/Run/BenchResult.h"

namespace mpg {

/// Tables do not become wider for the sake of further figures.
constexpr size_t pointTableColumns = 100;

/// A whole number is shown as one.
std::string formatWholeOrFigure(double value);

/// Nothing but what they share if no point has samples.
void writePointTable(llvm::raw_ostream &out, const ExperimentResult &result,
                     unsigned repetitions);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_REPORT_POINTTABLE_H
