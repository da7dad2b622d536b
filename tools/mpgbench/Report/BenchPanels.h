// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which plots an experiment gets: its points, sorted into small plots by the
// parameters that are neither on the x axis nor a series.

#ifndef MPG_TOOLS_MPGBENCH_REPORT_BENCHPANELS_H
#define MPG_TOOLS_MPGBENCH_REPORT_BENCHPANELS_H

#include "mpgbench/Run/BenchResult.h"

namespace mpg {

/// A point and where it belongs.
struct PlotPoint {
  const PointResult *point;
  size_t series;   ///< in PlotSet::series
  size_t category; ///< in PlotPanel::categories
};

struct PlotPanel {
  std::string title; ///< what holds for all of it: "threads 1"; may be empty
  std::string xName; ///< the parameter on its x axis; "": there is none
  /// Values of that parameter, also those that could not be measured; in the
  /// order of the plan, or rising if they are numbers.
  std::vector<std::string> categories;
  /// Of the categories; empty where some are no numbers above 0.
  std::vector<double> numbers;
  std::vector<PlotPoint> points; ///< that can be drawn
  size_t group = 0;              ///< panels of one group share the y axis
};

struct PlotSet {
  std::vector<std::string> series; ///< "pages 2M"; "" for points without one
  std::vector<PlotPanel> panels;
  size_t pointsLeftOut = 0; ///< measured, but there was no room for them
};

/// Widest number of series that one plot holds, and of plots.
constexpr size_t plotSeriesLimit = 24, plotPanelLimit = 24;
/// Categories that a plot holds if it has \p series series.
size_t categoryLimit(size_t series);

/// The result points into \p experiment.
PlotSet arrangePlots(const ExperimentResult &experiment);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_REPORT_BENCHPANELS_H
