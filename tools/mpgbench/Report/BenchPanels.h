// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which plots an experiment gets: its points, sorted into small plots by the
// parameters that are neither on the x axis nor a series.

#ifndef MPG_TOOLS_MPGBENCH_REPORT_BENCHPANELS_H
#define MPG_TOOLS_MPGBENCH_REPORT_BENCHPANELS_H

#include "Plot/PlotPanel.h"
#include "mpgbench/Run/BenchResult.h"

namespace mpg {

struct PlotSet {
  std::vector<std::string> series; ///< "pages 2M"; "" for points without one
  std::vector<PlotPanel> panels;
  size_t pointsLeftOut = 0; ///< measured, but there was no room for them
};

/// Widest number of series that one plot holds, and of plots.
constexpr size_t plotSeriesLimit = 24, plotPanelLimit = 24;
/// Categories that a plot holds if it has \p series series.
size_t categoryLimit(size_t series);

PlotSet arrangePlots(const ExperimentResult &experiment);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_REPORT_BENCHPANELS_H
