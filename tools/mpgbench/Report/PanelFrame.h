// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where things lie in the picture of one plot.
//
// The drawing is 400 units wide and stays between 330 and 520 pixels on the
// screen, so that text of 11 units can be read on a telephone as well. Widths
// of text are estimated, and generously: the page must not run anything that
// measures them.

#ifndef MPG_TOOLS_MPGBENCH_REPORT_PANELFRAME_H
#define MPG_TOOLS_MPGBENCH_REPORT_PANELFRAME_H

#include "mpgbench/Report/BenchPlotPanel.h"
#include "llvm/Support/Format.h"

namespace mpg {

struct PanelFrame {
  static constexpr double width = 400, top = 24, plotHeight = 176;
  /// Of one column of text, and of a line.
  static constexpr double letterWidth = 6.7, lineHeight = 13;
  static constexpr size_t rotatedColumns = 16;
  /// Room for a point and the guide's marks at the ends of an axis of numbers.
  static constexpr double numberMargin = 14;

  /// \p drawing must stay alive.
  explicit PanelFrame(const PanelDrawing &drawing);
  double x(size_t category) const;
  double laneX(const PlotPoint &point) const;
  double y(double value) const;

  double left = 0, right = 0, bottom = top + plotHeight, height = 0;
  bool isRotated = false;    ///< labels of categories
  std::vector<size_t> lanes; ///< the series that occur

private:
  void collectLanes();
  void measure();

  const PanelDrawing &drawing;
  const PlotPanel &panel;
};

/// A coordinate as SVG takes it.
inline llvm::format_object<double> svgNumber(double value) {
  return llvm::format("%.1f", value);
}

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_REPORT_PANELFRAME_H
