// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the page of mpgbench --html: plots and tables.
// Each part escapes its input: a result file may come from
// anywhere.

#pragma once

#include "Plot/PlotPanel.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/Support/raw_ostream.h"

namespace mpg {

// Which plots an experiment gets (BenchPanels.cpp). Its points, sorted into
// small plots by the parameters that are neither on the x axis nor a series.

struct PlotSet {
  std::vector<std::string> series; ///< "pages 2M"; "" for points without one
  std::vector<PlotPanel> panels;
  size_t pointsLeftOut = 0; ///< measured, but the page has no room for them
};

PlotSet arrangePlots(const ExperimentResult &experiment);

/// Writes all plots and their legend (BenchPlot.cpp): medians with their
/// intervals, and every repetition. \p prefix makes ids of the page unique.
void writeExperimentPlots(llvm::raw_ostream &out,
                          const ExperimentResult &experiment,
                          llvm::StringRef prefix);

// Heat maps (BenchHtmlTable.cpp)

/// Whether \p experiment goes from CPUs of some nodes to memory of some, so few
/// that a map holds them.
bool isNodeMap(const ExperimentResult &experiment);
/// One map of its value, and one of each figure. pre: isNodeMap(experiment).
void writeNodeMaps(llvm::raw_ostream &out, const ExperimentResult &experiment);

/// Counters and further figures of every point, folded; and which counters the
/// machine does not have.
void writeCounterTable(llvm::raw_ostream &out, const BenchRun &run,
                       const ExperimentResult &experiment);

} // namespace mpg
