// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plots of an experiment as pictures inside of a page: medians with their
// intervals, every repetition, and what the guide says.

#ifndef MPG_TOOLS_MPGBENCH_REPORT_BENCHPLOT_H
#define MPG_TOOLS_MPGBENCH_REPORT_BENCHPLOT_H

#include "mpgbench/Report/BenchPanels.h"

namespace mpg {

/// What became of one of ExperimentResult::guide.
struct GuideMark {
  std::string key;    ///< the letter beside it in the plots; "": not drawn
  std::string whyNot; ///< for people; "" if it is drawn
};

/// Writes all plots and their legend. \p prefix makes ids of the page unique.
/// Returns one mark for each figure of the guide, in order.
std::vector<GuideMark> writePlots(llvm::raw_ostream &out,
                                  const ExperimentResult &experiment,
                                  llvm::StringRef prefix);

/// The part of the style sheet for the page, after plotStyle().
llvm::StringRef benchStyle();

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_REPORT_BENCHPLOT_H
