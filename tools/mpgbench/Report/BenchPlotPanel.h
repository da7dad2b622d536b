// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One plot as a picture.

#ifndef MPG_TOOLS_MPGBENCH_REPORT_BENCHPLOTPANEL_H
#define MPG_TOOLS_MPGBENCH_REPORT_BENCHPLOTPANEL_H

#include "mpgbench/Report/BenchAxis.h"
#include "mpgbench/Report/BenchPanels.h"
#include <optional>

namespace mpg {

/// A figure of the guide that is drawn.
struct DrawnGuide {
  const GuideFigure *figure;
  std::string key; ///< a letter
};

struct PanelDrawing {
  const PlotPanel &panel;
  const ValueAxis &axis;
  const std::string &unit;
  bool higherIsBetter;
  std::vector<DrawnGuide> guides;
  bool drawsRepetitions;
  std::string captionId; ///< of the text that describes it
};

/// The classes of points of a series: its colour; and which of plotShapes().
std::string seriesClass(size_t series);
std::string seriesShape(size_t series);

void writePanel(llvm::raw_ostream &out, const PanelDrawing &drawing);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_REPORT_BENCHPLOTPANEL_H
