// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The drawing is 400 units wide and stays between 330 and 520 pixels on the
// screen, so that text of 11 units can be read on a telephone as well. Widths
// of text are estimated, and generously: the page must not run anything that
// measures them.

#include "Bench/Report/BenchPlotPanel.h"
#include "Report/HtmlParts.h"
#include "Support/StableSort.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace mpg;

namespace {

constexpr double width = 400, top = 24, plotHeight = 176;
/// Of one column of text, and of a line.
constexpr double letterWidth = 6.7, lineHeight = 13;
constexpr size_t rotatedColumns = 16;
/// Room for a point and the guide's marks at the ends of an axis of numbers.
constexpr double numberMargin = 14;

constexpr size_t colours = 6, shapes = 6;

/// A text beside an axis, which others may not overlap.
struct Label {
  double at;
  std::string text;
};

class PanelWriter {
public:
  PanelWriter(raw_ostream &out, const PanelDrawing &drawing)
      : out(out), drawing(drawing), panel(drawing.panel) {}
  void write();

private:
  void measure();
  void collectLanes();
  double x(size_t category) const;
  double laneX(const PlotPoint &point) const;
  double y(double value) const;
  void writeValueAxis();
  void writeCategoryLabels();
  void writeNumberLabels();
  void writeGuides();
  void writeCurves();
  void writePoint(const PlotPoint &point);
  void writeRepetitions(const PlotPoint &point);
  void writeInterval(const PlotPoint &point);
  void writeEmpty();

  raw_ostream &out;
  const PanelDrawing &drawing;
  const PlotPanel &panel;
  double left = 0, right = 0, bottom = top + plotHeight, height = 0;
  bool isRotated = false;
  std::vector<size_t> lanes; ///< the series that occur
};

} // namespace

std::string mpg::seriesClass(size_t series) {
  return "s" + std::to_string(series % colours);
}

/// Six colours with a shape each, then the same colours with other shapes.
std::string mpg::seriesShape(size_t series) {
  return "shape" + std::to_string((series + series / colours) % shapes);
}

static format_object<double> number(double value) {
  return format("%.1f", value);
}

void PanelWriter::collectLanes() {
  for (const PlotPoint &point : panel.points)
    if (!is_contained(lanes, point.series))
      lanes.push_back(point.series);
  llvm::sort(lanes);
}

/// Where the plot lies between its labels.
void PanelWriter::measure() {
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

double PanelWriter::x(size_t category) const {
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
double PanelWriter::laneX(const PlotPoint &point) const {
  double middle = x(point.category);
  if (!panel.numbers.empty())
    return middle;
  double room = (right - left) / double(panel.categories.size()) - 8;
  double lane = std::min(room / double(lanes.size()), 26.0);
  double index = double(find(lanes, point.series) - lanes.begin());
  return middle + (index - double(lanes.size() - 1) / 2) * lane;
}

double PanelWriter::y(double value) const {
  return bottom - drawing.axis.fraction(value) * plotHeight;
}

void PanelWriter::writeValueAxis() {
  std::string unit = shortLabel(drawing.unit, 20);
  out << "<text class=\"unit\" x=\"2\" y=\"11\">" << escapeHtml(unit)
      << (drawing.higherIsBetter ? ", higher is better" : ", lower is better")
      << (drawing.axis.isLogarithmic() ? "; logarithmic" : "") << "</text>\n";
  for (const AxisTick &tick : drawing.axis.ticks()) {
    double at = y(tick.value);
    bool isBase = at > bottom - 0.05;
    out << "<line class=\"" << (isBase ? "base" : "grid") << "\" x1=\""
        << number(left) << "\" x2=\"" << number(right) << "\" y1=\""
        << number(at) << "\" y2=\"" << number(at)
        << "\"/>\n<text class=\"tick\""
        << " text-anchor=\"end\" x=\"" << number(left - 5) << "\" y=\""
        << number(at + 4) << "\">" << tick.label << "</text>\n";
  }
}

void PanelWriter::writeCategoryLabels() {
  for (size_t i = 0; i < panel.categories.size(); ++i) {
    size_t room = isRotated || panel.categories.size() == 1
                      ? rotatedColumns
                      : size_t((right - left) /
                               double(panel.categories.size()) / letterWidth);
    std::string text = shortLabel(panel.categories[i], room);
    double at = x(i), line = bottom + lineHeight + 2;
    out << "<text class=\"tick\" text-anchor=\""
        << (isRotated ? "end" : "middle") << "\" x=\""
        << number(isRotated ? at + 4 : at) << "\" y=\"" << number(line) << "\"";
    if (isRotated)
      out << " transform=\"rotate(-45 " << number(at + 4) << " " << number(line)
          << ")\"";
    out << ">" << escapeHtml(text);
    if (text != panel.categories[i])
      out << "<title>" << escapeHtml(panel.categories[i]) << "</title>";
    out << "</text>\n";
  }
}

/// A short line at every number, and as many labels, evenly spaced in the order
/// of the numbers, as fit.
void PanelWriter::writeNumberLabels() {
  size_t count = panel.numbers.size(), every = 1;
  std::vector<std::string> texts;
  for (const std::string &text : panel.categories)
    texts.push_back(shortLabel(text, rotatedColumns));
  auto half = [&](size_t i) {
    return double(labelColumns(texts[i])) * letterWidth / 2;
  };
  auto fits = [&] {
    for (size_t i = every; i < count; i += every)
      if (x(i) - half(i) < x(i - every) + half(i - every) + 5)
        return false;
    return true;
  };
  while (every < count && !fits())
    ++every;
  for (size_t i = 0; i < count; ++i) {
    bool hasLabel = i % every == 0;
    out << "<line class=\"base\" x1=\"" << number(x(i)) << "\" x2=\""
        << number(x(i)) << "\" y1=\"" << number(bottom) << "\" y2=\""
        << number(bottom + (hasLabel ? 4 : 2)) << "\"/>\n";
    if (!hasLabel)
      continue;
    double at = std::clamp(x(i), half(i) + 1, width - half(i) - 1);
    out << "<text class=\"tick\" text-anchor=\"middle\" x=\"" << number(at)
        << "\" y=\"" << number(bottom + lineHeight + 3) << "\">"
        << escapeHtml(texts[i]) << "</text>\n";
  }
}

/// Moves labels apart that are closer than a line, upwards from the lowest, and
/// back down where they leave the plot. \p labels: rising.
static void spread(std::vector<Label> &labels, double highest) {
  for (size_t i = 1; i < labels.size(); ++i)
    labels[i].at = std::max(labels[i].at, labels[i - 1].at + lineHeight - 1);
  double limit = highest;
  for (size_t i = labels.size(); i-- > 0; limit -= lineHeight - 1)
    labels[i].at = std::min(labels[i].at, limit);
}

/// Lines across all points have their letter in the right margin; a mark at one
/// of them has it at its right end.
void PanelWriter::writeGuides() {
  std::map<size_t, std::vector<Label>> letters; // by category
  size_t across = panel.categories.size();
  double room = panel.numbers.empty()
                    ? (right - left) / double(panel.categories.size())
                    : 2 * numberMargin;
  double half = std::min(room, 110.0) / 2 - 1;
  for (const DrawnGuide &guide : drawing.guides) {
    size_t category = size_t(find(panel.categories, guide.figure->at) -
                             panel.categories.begin());
    bool isAcross = guide.figure->at.empty();
    double from = isAcross ? left : x(category) - half,
           to = isAcross ? right : x(category) + half - 8,
           at = y(guide.figure->value);
    out << "<g class=\"guide\"><title>" << guide.key << ": "
        << escapeHtml(guide.figure->label) << ": "
        << formatMeasured(guide.figure->value) << " "
        << escapeHtml(drawing.unit) << "</title><line x1=\"" << number(from)
        << "\" x2=\"" << number(to) << "\" y1=\"" << number(at) << "\" y2=\""
        << number(at) << "\"/></g>\n";
    letters[isAcross ? across : category].push_back({at + 4, guide.key});
  }
  for (auto &[category, labels] : letters) {
    stableSort(labels,
               [](const Label &a, const Label &b) { return a.at < b.at; });
    spread(labels, bottom + 4);
    double at = category == across ? right + 4 : x(category) + half - 7;
    for (const Label &label : labels)
      out << "<text class=\"key\" x=\"" << number(at) << "\" y=\""
          << number(label.at) << "\">" << label.text << "</text>\n";
  }
}

/// From size to size of each series.
void PanelWriter::writeCurves() {
  for (size_t series : lanes) {
    std::vector<PlotPoint> points;
    for (const PlotPoint &point : panel.points)
      if (point.series == series)
        points.push_back(point);
    stableSort(points, [](const PlotPoint &a, const PlotPoint &b) {
      return a.category < b.category;
    });
    if (points.size() < 2)
      continue;
    out << "<path class=\"curve " << seriesClass(series) << "\" d=\"";
    const char *command = "M";
    for (const PlotPoint &point : points) {
      out << command << number(laneX(point)) << " "
          << number(y(point.point->summary.median));
      command = " L";
    }
    out << "\"/>\n";
  }
}

void PanelWriter::writeRepetitions(const PlotPoint &point) {
  size_t count = point.point->samples.size();
  double lane = (right - left) / double(panel.categories.size()) - 8;
  // On both sides of the interval, in the order of the rounds.
  double reach = panel.numbers.empty()
                     ? std::min(lane / double(lanes.size()) / 2 - 2, 10.0)
                     : 0;
  for (size_t i = 0; i < count; ++i) {
    double value = point.point->samples[i].value;
    if (!isDrawable(value))
      continue;
    double side = count > 1 ? 2.0 * double(i) / double(count - 1) - 1 : 0;
    out << "<circle class=\"repetition\" cx=\""
        << number(laneX(point) + side * reach) << "\" cy=\"" << number(y(value))
        << "\" r=\"1.7\"/>";
  }
}

void PanelWriter::writeInterval(const PlotPoint &point) {
  const std::optional<Interval> &interval = point.point->summary.interval;
  if (!interval || !isDrawable(interval->low) || !isDrawable(interval->high))
    return;
  double at = laneX(point), low = y(interval->low), high = y(interval->high);
  out << "<path class=\"interval\" d=\"M" << number(at) << " " << number(low)
      << " L" << number(at) << " " << number(high);
  for (double end : {low, high})
    out << " M" << number(at - 3) << " " << number(end) << " L"
        << number(at + 3) << " " << number(end);
  out << "\"/>";
}

void PanelWriter::writePoint(const PlotPoint &point) {
  const Summary &summary = point.point->summary;
  out << "<g class=\"point " << seriesClass(point.series)
      << (point.point->isBusy ? " busy" : "") << "\"><title>"
      << escapeHtml(point.point->name) << ": " << formatMeasured(summary.median)
      << " " << escapeHtml(drawing.unit);
  if (summary.interval)
    out << " [" << formatMeasured(summary.interval->low) << ", "
        << formatMeasured(summary.interval->high) << "]";
  out << ", " << countWord(point.point->samples.size(), "repetition")
      << (point.point->isBusy ? ", while the machine was busy" : "")
      << "</title>";
  if (drawing.drawsRepetitions)
    writeRepetitions(point);
  writeInterval(point);
  out << "<use href=\"#" << seriesShape(point.series) << "\" x=\""
      << number(laneX(point)) << "\" y=\"" << number(y(summary.median))
      << "\"/></g>\n";
}

/// Where nothing could be measured, so that it is not taken for a zero.
void PanelWriter::writeEmpty() {
  if (!panel.numbers.empty())
    return;
  double room = (right - left) / double(panel.categories.size());
  for (size_t i = 0; i < panel.categories.size(); ++i) {
    bool isEmpty = none_of(panel.points, [&](const PlotPoint &point) {
      return point.category == i;
    });
    if (isEmpty)
      out << "<text class=\"empty\" text-anchor=\"middle\" x=\"" << number(x(i))
          << "\" y=\"" << number(bottom - 6) << "\">"
          << (room > 90 ? "not measured" : "-") << "</text>\n";
  }
}

void PanelWriter::write() {
  collectLanes();
  measure();
  out << "<svg class=\"plot\" role=\"img\" aria-labelledby=\""
      << drawing.captionId << "\" viewBox=\"0 0 " << int(width) << " "
      << int(std::ceil(height)) << "\">\n";
  writeValueAxis();
  if (panel.numbers.empty())
    writeCategoryLabels();
  else
    writeNumberLabels();
  out << "<text class=\"unit\" text-anchor=\"middle\" x=\""
      << number((left + right) / 2) << "\" y=\""
      << number(std::ceil(height) - 5) << "\">"
      << escapeHtml(shortLabel(panel.xName, 40)) << "</text>\n";
  writeEmpty();
  writeGuides();
  if (!panel.numbers.empty())
    writeCurves();
  for (const PlotPoint &point : panel.points)
    writePoint(point);
  out << "</svg>\n";
}

void mpg::writePanel(raw_ostream &out, const PanelDrawing &drawing) {
  PanelWriter(out, drawing).write();
}
