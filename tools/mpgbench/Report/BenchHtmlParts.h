// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the page of mpgbench --html is put together from. Each part escapes what
// it is given: a result file may come from anywhere.

#ifndef MPG_TOOLS_MPGBENCH_REPORT_BENCHHTMLPARTS_H
#define MPG_TOOLS_MPGBENCH_REPORT_BENCHHTMLPARTS_H

#include "mpgbench/Report/BenchPlot.h"

namespace mpg {

/// Every point: its parameters, what was measured, on which pages.
void writePointTable(llvm::raw_ostream &out,
                     const ExperimentResult &experiment);

/// Counters and further figures of every point, folded; and which counters the
/// machine does not have.
void writeCounterTable(llvm::raw_ostream &out,
                       const ExperimentResult &experiment);

/// The guide's figures. \p marks: what writePlots said about them.
void writeGuideTable(llvm::raw_ostream &out, const ExperimentResult &experiment,
                     llvm::ArrayRef<GuideMark> marks);

/// Points without measurements, by reason.
void writeMissing(llvm::raw_ostream &out, const ExperimentResult &experiment);

/// Conclusions of all experiments; ids of their sections are e1, e2, ...
void writeConclusions(llvm::raw_ostream &out, const BenchRun &run);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_REPORT_BENCHHTMLPARTS_H
