// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plots as pictures inside of a page: points in categories or over numbers,
// with their intervals, and their axes. Or a heat map.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mpg {

// Axes. Which part of the numbers is shown, where a value lies on it, and the
// round numbers that are written beside it.

/// Whether \p value can be drawn: a number above 0, and not so large or small
/// that arithmetic on it leaves what a double can hold.
bool isDrawable(double value);

struct AxisTick {
  double value;
  std::string label;
};

/// The axis that values are read from.
class ValueAxis {
public:
  /// From 0 to \p max or a little more. pre: isDrawable(max).
  static ValueAxis linear(double max);
  /// pre: isDrawable(min), isDrawable(max), min <= max.
  static ValueAxis logarithmic(double min, double max);

  /// Where \p value lies, 0 being the lower end and 1 the upper one; what lies
  /// outside is at the end that is nearer.
  double fraction(double value) const;
  const std::vector<AxisTick> &ticks() const { return marks; }
  bool isLogarithmic() const { return isLog; }

private:
  ValueAxis(double low, double high, bool isLog)
      : low(low), high(high), isLog(isLog) {}

  double low, high; ///< logarithms if isLog
  bool isLog;
  std::vector<AxisTick> marks;
};

// Plots

/// A point and where it belongs.
struct PlotPoint {
  std::string name; ///< shown under the pointer: "triad/pages=2M"
  std::string note; ///< the same, after its value: ", 7 repetitions"
  double value = 0;
  std::optional<std::pair<double, double>> interval;
  std::vector<double> samples; ///< that the value was made from; may be empty
  bool isHollow = false;       ///< to differ from the others
  size_t series = 0;           ///< its colour and shape
  size_t category = 0;         ///< in PlotPanel::categories
};

struct PlotPanel {
  std::string title; ///< what holds for all of it: "threads 1"; may be empty
  std::string xName; ///< the parameter on its x axis; "": there is none
  /// Values of that parameter, also those without a point; rising if they are
  /// numbers.
  std::vector<std::string> categories;
  /// Numbers of the categories; empty where some are not numbers above 0.
  std::vector<double> numbers;
  std::vector<PlotPoint> points; ///< that can be drawn
  size_t group = 0;              ///< panels of one group share the y axis
};

/// The values of panels that share an axis.
struct ValueRange {
  double min = 0, max = 0; ///< 0: there are none
  void add(double value);
  /// Values, their intervals and samples.
  void add(const PlotPanel &panel);
  /// Logarithmic if the largest is more than \p span times the smallest.
  ValueAxis axis(double span) const;
};

struct Plot {
  std::string id;      ///< no other one of the page has it
  std::string caption; ///< markup
  PlotPanel panel;
  ValueAxis axis;
  std::string unit;
  bool higherIsBetter = false;
};

struct PlotLegend {
  std::vector<std::string> series;  ///< names by PlotPoint::series
  llvm::StringRef interval, hollow; ///< their meanings
};

/// Plots beside each other, and a legend of what occurs in them.
void writePlots(llvm::raw_ostream &out, llvm::ArrayRef<Plot> plots,
                const PlotLegend &legend);

/// A line of the legend, which is a list of the class "legend". \p inside: the
/// drawing, 22 units by 14; \p text: markup.
void writePlotKey(llvm::raw_ostream &out, llvm::StringRef classes,
                  llvm::StringRef inside, llvm::StringRef text);

/// A heat map: the stronger the colour the more. \p rows: percent, equally many
/// in each, the first row on top. \p captionId: of the text that describes it.
void writeHeatMap(llvm::raw_ostream &out,
                  const std::vector<std::vector<uint8_t>> &rows,
                  const std::string &captionId);
/// Its legend.
void writeHeatKeys(llvm::raw_ostream &out);

/// Shapes of points that plots refer to; once in a page.
llvm::StringRef plotShapes();
/// The part of the style sheet for plots: HtmlHead's style.
llvm::StringRef plotStyle();

} // namespace mpg
