// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PanelFrame.h.

#include "mpgbench/Report/PanelFrame.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace mpg;

PanelFrame::PanelFrame(const PanelDrawing &drawing)
    : drawing(drawing), panel(drawing.panel) {
  collectLanes();
  measure();
}

void PanelFrame::collectLanes() {
  for (const PlotPoint &point : panel.points)
    if (!is_contained(lanes, point.series))
      lanes.push_back(point.series);
  llvm::sort(lanes);
}

/// Where the plot lies between its labels.
void PanelFrame::measure() {
  size_t columns = 0, widest = 0;
  for (const AxisTick &tick : drawing.axis.ticks())
    columns = std::max(columns, labelColumns(tick.label));
  left = double(columns) * letterWidth + 10;
  bool hasLine = any_of(drawing.guides, [](const DrawnGuide &guide) {
    return guide.figure->at.empty();
  });
  right = width - (hasLine ? 18 : 6);
  height = bottom + 2 * lineHeight + 8;
  if (!panel.numbers.empty())
    return;
  for (const std::string &text : panel.categories)
    widest = std::max(widest, labelColumns(shortLabel(text, rotatedColumns)));
  double room = (right - left) / double(panel.categories.size());
  double length = double(widest) * letterWidth;
  isRotated = length + 4 > room;
  if (!isRotated)
    return;
  // At 45 degrees a label goes as far to the left as it goes down.
  length *= 0.71;
  left = std::max(left, length + 6 - room / 2);
  height = bottom + length + 2 * lineHeight + 8;
}

double PanelFrame::x(size_t category) const {
  if (panel.numbers.empty())
    return left + (double(category) + 0.5) * (right - left) /
                      double(panel.categories.size());
  double low = std::log2(panel.numbers.front()),
         high = std::log2(panel.numbers.back());
  double fraction =
      high > low ? (std::log2(panel.numbers[category]) - low) / (high - low)
                 : 0.5;
  return left + numberMargin + fraction * (right - left - 2 * numberMargin);
}

/// Series of a category stand side by side; those of a number do not.
double PanelFrame::laneX(const PlotPoint &point) const {
  double middle = x(point.category);
  if (!panel.numbers.empty())
    return middle;
  double room = (right - left) / double(panel.categories.size()) - 8;
  double lane = std::min(room / double(lanes.size()), 26.0);
  double index = double(find(lanes, point.series) - lanes.begin());
  return middle + (index - double(lanes.size() - 1) / 2) * lane;
}

double PanelFrame::y(double value) const {
  return bottom - drawing.axis.fraction(value) * plotHeight;
}
