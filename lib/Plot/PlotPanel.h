// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One plot as a picture inside of a page: points in categories or over numbers,
// with their intervals, and lines of reference.

#ifndef MPG_PLOT_PLOTPANEL_H
#define MPG_PLOT_PLOTPANEL_H

#include "Plot/PlotAxis.h"
#include <optional>
#include <utility>

namespace llvm {
class raw_ostream;
}

namespace mpg {

/// A point and where it belongs.
struct PlotPoint {
  std::string name; ///< for whoever points at it: "triad/pages=2M"
  std::string note; ///< the same, behind its value: ", 7 repetitions"
  double value = 0;
  std::optional<std::pair<double, double>> interval;
  std::vector<double> samples; ///< that the value was made from; may be empty
  bool isHollow = false;       ///< to be told from the others
  size_t series = 0;           ///< its colour and shape
  size_t category = 0;         ///< in PlotPanel::categories
};

struct PlotPanel {
  std::string title; ///< what holds for all of it: "threads 1"; may be empty
  std::string xName; ///< the parameter on its x axis; "": there is none
  /// Values of that parameter, also those without a point; rising if they are
  /// numbers.
  std::vector<std::string> categories;
  /// Of the categories; empty where some are no numbers above 0.
  std::vector<double> numbers;
  std::vector<PlotPoint> points; ///< that can be drawn
  size_t group = 0;              ///< panels of one group share the y axis
};

/// A line of reference.
struct DrawnGuide {
  std::string label;
  double value;
  std::string at;  ///< the category that it stands at; "": across all
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

/// A line of the legend, which is a list of the class "legend". \p inside: the
/// drawing, 22 units by 14; \p text: markup.
void writePlotKey(llvm::raw_ostream &out, llvm::StringRef classes,
                  llvm::StringRef inside, llvm::StringRef text);
/// The drawing of a point of \p series for writePlotKey.
std::string plotKeyShape(size_t series);

/// Shapes of points that plots refer to; once in a page.
llvm::StringRef plotShapes();
/// The part of the style sheet for plots, after htmlStyle().
llvm::StringRef plotStyle();

} // namespace mpg

#endif // MPG_PLOT_PLOTPANEL_H
