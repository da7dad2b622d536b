// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PlotPanel.h: what stands inside of the axes.

#include "Plot/PlotPanel.h"
#include "Support/Format.h"
#include "Support/HtmlPage.h"
#include "Support/StableSort.h"
#include "Support/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <cmath>
#include <set>

using namespace llvm;
using namespace mpg;

namespace {

/// Where things lie in the picture of one plot. The drawing is 400 units wide
/// and stays between 330 and 520 pixels on the screen, so that text of 11 units
/// can be read on a telephone as well. Widths of text are estimated, and
/// generously: the page must not run anything that measures them.
struct PanelFrame {
  static constexpr double width = 400, top = 24, plotHeight = 176;
  /// Estimated size of one column of text, and of a line.
  static constexpr double letterWidth = 6.7, lineHeight = 13;
  static constexpr size_t rotatedColumns = 16;
  /// Room for a point at the ends of an axis of numbers.
  static constexpr double numberMargin = 14;

  /// \p plot must stay alive.
  explicit PanelFrame(const Plot &plot);
  double x(size_t category) const;
  double laneX(const PlotPoint &point) const;
  double y(double value) const;

  double left = 0, right = 0, bottom = top + plotHeight, height = 0;
  bool isRotated = false;    ///< labels of categories
  std::vector<size_t> lanes; ///< the series that occur

private:
  void collectLanes();
  void measure();

  const Plot &plot;
  const PlotPanel &panel;
};

/// A coordinate as SVG takes it.
inline llvm::format_object<double> svgNumber(double value) {
  return llvm::format("%.1f", value);
}

} // namespace

PanelFrame::PanelFrame(const Plot &plot) : plot(plot), panel(plot.panel) {
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
  for (const AxisTick &tick : plot.axis.ticks())
    columns = std::max(columns, labelColumns(tick.label));
  left = double(columns) * letterWidth + 10;
  right = width - 6;
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
  return bottom - plot.axis.fraction(value) * plotHeight;
}

static void writeValueAxis(raw_ostream &out, const Plot &plot,
                           const PanelFrame &frame) {
  std::string unit = shortLabel(plot.unit, 20);
  out << "<text class=\"unit\" x=\"2\" y=\"11\">" << escapeHtml(unit)
      << (plot.higherIsBetter ? ", higher is better" : ", lower is better")
      << (plot.axis.isLogarithmic() ? "; logarithmic" : "") << "</text>\n";
  for (const AxisTick &tick : plot.axis.ticks()) {
    double at = frame.y(tick.value);
    bool isBase = at > frame.bottom - 0.05;
    out << "<line class=\"" << (isBase ? "base" : "grid") << "\" x1=\""
        << svgNumber(frame.left) << "\" x2=\"" << svgNumber(frame.right)
        << "\" y1=\"" << svgNumber(at) << "\" y2=\"" << svgNumber(at)
        << "\"/>\n<text class=\"tick\""
        << " text-anchor=\"end\" x=\"" << svgNumber(frame.left - 5) << "\" y=\""
        << svgNumber(at + 4) << "\">" << tick.label << "</text>\n";
  }
}

static void writeCategoryLabels(raw_ostream &out, const Plot &plot,
                                const PanelFrame &frame) {
  for (size_t i = 0; i < plot.panel.categories.size(); ++i) {
    size_t room = frame.isRotated || plot.panel.categories.size() == 1
                      ? PanelFrame::rotatedColumns
                      : size_t((frame.right - frame.left) /
                               double(plot.panel.categories.size()) /
                               PanelFrame::letterWidth);
    std::string text = shortLabel(plot.panel.categories[i], room);
    double at = frame.x(i), line = frame.bottom + PanelFrame::lineHeight + 2;
    out << "<text class=\"tick\" text-anchor=\""
        << (frame.isRotated ? "end" : "middle") << "\" x=\""
        << svgNumber(frame.isRotated ? at + 4 : at) << "\" y=\""
        << svgNumber(line) << "\"";
    if (frame.isRotated)
      out << " transform=\"rotate(-45 " << svgNumber(at + 4) << " "
          << svgNumber(line) << ")\"";
    out << ">" << escapeHtml(text);
    if (text != plot.panel.categories[i])
      out << "<title>" << escapeHtml(plot.panel.categories[i]) << "</title>";
    out << "</text>\n";
  }
}

/// A short line at every number, and as many labels, evenly spaced in the order
/// of the numbers, as fit.
static void writeNumberLabels(raw_ostream &out, const Plot &plot,
                              const PanelFrame &frame) {
  size_t count = plot.panel.numbers.size(), every = 1;
  std::vector<std::string> texts;
  for (const std::string &text : plot.panel.categories)
    texts.push_back(shortLabel(text, PanelFrame::rotatedColumns));
  auto half = [&](size_t i) {
    return double(labelColumns(texts[i])) * PanelFrame::letterWidth / 2;
  };
  auto fits = [&] {
    for (size_t i = every; i < count; i += every)
      if (frame.x(i) - half(i) < frame.x(i - every) + half(i - every) + 5)
        return false;
    return true;
  };
  while (every < count && !fits())
    ++every;
  for (size_t i = 0; i < count; ++i) {
    bool hasLabel = i % every == 0;
    out << "<line class=\"base\" x1=\"" << svgNumber(frame.x(i)) << "\" x2=\""
        << svgNumber(frame.x(i)) << "\" y1=\"" << svgNumber(frame.bottom)
        << "\" y2=\"" << svgNumber(frame.bottom + (hasLabel ? 4 : 2))
        << "\"/>\n";
    if (!hasLabel)
      continue;
    double at =
        std::clamp(frame.x(i), half(i) + 1, PanelFrame::width - half(i) - 1);
    out << "<text class=\"tick\" text-anchor=\"middle\" x=\"" << svgNumber(at)
        << "\" y=\"" << svgNumber(frame.bottom + PanelFrame::lineHeight + 3)
        << "\">" << escapeHtml(texts[i]) << "</text>\n";
  }
}

static void writePanelAxes(raw_ostream &out, const Plot &plot,
                           const PanelFrame &frame) {
  writeValueAxis(out, plot, frame);
  if (plot.panel.numbers.empty())
    writeCategoryLabels(out, plot, frame);
  else
    writeNumberLabels(out, plot, frame);
}

namespace {

constexpr size_t colours = 6, shapes = 6;

class PanelWriter {
public:
  PanelWriter(raw_ostream &out, const Plot &plot)
      : out(out), plot(plot), panel(plot.panel), frame(plot) {}
  void write();

private:
  void writeCurves();
  void writePoint(const PlotPoint &point);
  void writeRepetitions(const PlotPoint &point);
  void writeInterval(const PlotPoint &point);
  void writeEmpty();

  raw_ostream &out;
  const Plot &plot;
  const PlotPanel &panel;
  PanelFrame frame;
};

} // namespace

/// The class of points of a series: its colour.
static std::string seriesClass(size_t series) {
  return "s" + std::to_string(series % colours);
}

/// Six colours with a shape each, then the same colours with other shapes.
static std::string seriesShape(size_t series) {
  return "shape" + std::to_string((series + series / colours) % shapes);
}

/// From size to size of each series.
void PanelWriter::writeCurves() {
  for (size_t series : frame.lanes) {
    std::vector<PlotPoint> points;
    for (const PlotPoint &point : panel.points)
      if (point.series == series)
        points.push_back(point);
    sortBy(points, &PlotPoint::category);
    if (points.size() < 2)
      continue;
    out << "<path class=\"curve " << seriesClass(series) << "\" d=\"";
    const char *command = "M";
    for (const PlotPoint &point : points) {
      out << command << svgNumber(frame.laneX(point)) << " "
          << svgNumber(frame.y(point.value));
      command = " L";
    }
    out << "\"/>\n";
  }
}

void PanelWriter::writeRepetitions(const PlotPoint &point) {
  size_t count = point.samples.size();
  double lane =
      (frame.right - frame.left) / double(panel.categories.size()) - 8;
  // On both sides of the interval, in the order of the rounds.
  double reach = panel.numbers.empty()
                     ? std::min(lane / double(frame.lanes.size()) / 2 - 2, 10.0)
                     : 0;
  for (size_t i = 0; i < count; ++i) {
    double value = point.samples[i];
    if (!isDrawable(value))
      continue;
    double side = count > 1 ? 2.0 * double(i) / double(count - 1) - 1 : 0;
    out << "<circle class=\"repetition\" cx=\""
        << svgNumber(frame.laneX(point) + side * reach) << "\" cy=\""
        << svgNumber(frame.y(value)) << "\" r=\"1.7\"/>";
  }
}

void PanelWriter::writeInterval(const PlotPoint &point) {
  if (!point.interval || !isDrawable(point.interval->first) ||
      !isDrawable(point.interval->second))
    return;
  double at = frame.laneX(point), low = frame.y(point.interval->first),
         high = frame.y(point.interval->second);
  out << "<path class=\"interval\" d=\"M" << svgNumber(at) << " "
      << svgNumber(low) << " L" << svgNumber(at) << " " << svgNumber(high);
  for (double end : {low, high})
    out << " M" << svgNumber(at - 3) << " " << svgNumber(end) << " L"
        << svgNumber(at + 3) << " " << svgNumber(end);
  out << "\"/>";
}

void PanelWriter::writePoint(const PlotPoint &point) {
  out << "<g class=\"point " << seriesClass(point.series)
      << (point.isHollow ? " busy" : "") << "\"><title>"
      << escapeHtml(point.name) << ": " << formatFigure(point.value) << " "
      << escapeHtml(plot.unit);
  if (point.interval)
    out << " [" << formatFigure(point.interval->first) << ", "
        << formatFigure(point.interval->second) << "]";
  out << escapeHtml(point.note) << "</title>";
  writeRepetitions(point);
  writeInterval(point);
  out << "<use href=\"#" << seriesShape(point.series) << "\" x=\""
      << svgNumber(frame.laneX(point)) << "\" y=\""
      << svgNumber(frame.y(point.value)) << "\"/></g>\n";
}

/// Where nothing could be measured, so that it is not taken for a zero.
void PanelWriter::writeEmpty() {
  if (!panel.numbers.empty())
    return;
  double room = (frame.right - frame.left) / double(panel.categories.size());
  for (size_t i = 0; i < panel.categories.size(); ++i) {
    bool isEmpty = none_of(panel.points, [&](const PlotPoint &point) {
      return point.category == i;
    });
    if (isEmpty)
      out << "<text class=\"empty\" text-anchor=\"middle\" x=\""
          << svgNumber(frame.x(i)) << "\" y=\"" << svgNumber(frame.bottom - 6)
          << "\">" << (room > 90 ? "not measured" : "-") << "</text>\n";
  }
}

void PanelWriter::write() {
  out << "<svg class=\"plot\" role=\"img\" aria-labelledby=\"" << plot.id
      << "\" viewBox=\"0 0 " << int(PanelFrame::width) << " "
      << int(std::ceil(frame.height)) << "\">\n";
  writePanelAxes(out, plot, frame);
  out << "<text class=\"unit\" text-anchor=\"middle\" x=\""
      << svgNumber((frame.left + frame.right) / 2) << "\" y=\""
      << svgNumber(std::ceil(frame.height) - 5) << "\">"
      << escapeHtml(shortLabel(panel.xName, 40)) << "</text>\n";
  writeEmpty();
  if (!panel.numbers.empty())
    writeCurves();
  for (const PlotPoint &point : panel.points)
    writePoint(point);
  out << "</svg>\n";
}

void ValueRange::add(double value) {
  if (!isDrawable(value))
    return;
  min = max == 0 ? value : std::min(min, value);
  max = std::max(max, value);
}

void ValueRange::add(const PlotPanel &panel) {
  for (const PlotPoint &point : panel.points) {
    add(point.value);
    if (point.interval) {
      add(point.interval->first);
      add(point.interval->second);
    }
    for (double sample : point.samples)
      add(sample);
  }
}

ValueAxis ValueRange::axis(double span) const {
  if (max == 0)
    return ValueAxis::linear(1);
  return min > 0 && max > min * span ? ValueAxis::logarithmic(min, max)
                                     : ValueAxis::linear(max);
}

static void writeLegend(raw_ostream &out, ArrayRef<Plot> plots,
                        const PlotLegend &legend) {
  std::set<size_t> series;
  bool hasHollow = false, hasInterval = false, hasSamples = false;
  for (const Plot &plot : plots)
    for (const PlotPoint &point : plot.panel.points) {
      series.insert(point.series);
      hasHollow |= point.isHollow;
      hasInterval |= point.interval.has_value();
      hasSamples |= !point.samples.empty();
    }
  auto shape = [](size_t one) {
    return "<use href=\"#" + seriesShape(one) + "\" x=\"11\" y=\"7\"/>";
  };
  out << "<ul class=\"legend\">\n";
  for (size_t one : series)
    writePlotKey(out, "point " + seriesClass(one), shape(one),
                 escapeHtml(legend.series[one]));
  if (hasInterval)
    writePlotKey(out, "point other",
                 "<path class=\"interval\" d=\"M11 1V13M8 1H14M8 13H14\"/>",
                 legend.interval);
  if (hasSamples)
    writePlotKey(out, "point other",
                 "<circle class=\"repetition\" cx=\"7\" cy=\"9\" r=\"1.7\"/>"
                 "<circle class=\"repetition\" cx=\"15\" cy=\"6\" r=\"1.7\"/>",
                 "one repetition");
  if (hasHollow)
    writePlotKey(out, "point busy other", shape(0),
                 "hollow: " + legend.hollow.str());
  out << "</ul>\n";
}

void mpg::writePlots(raw_ostream &out, ArrayRef<Plot> plots,
                     const PlotLegend &legend) {
  out << "<div class=\"plots\">\n";
  for (const Plot &plot : plots) {
    out << "<figure>\n<figcaption id=\"" << plot.id << "\">" << plot.caption
        << "</figcaption>\n";
    PanelWriter(out, plot).write();
    out << "</figure>\n";
  }
  out << "</div>\n";
  writeLegend(out, plots, legend);
}

// How plots look: six colours with a shape each, in light and in dark.

StringRef mpg::plotStyle() {
  return R"css(
:root{--s0:#0067a5;--s1:#c44f00;--s2:#00805e;--s3:#ad4d86;--s4:#8a6d00;--s5:#2f7fae}
@media(prefers-color-scheme:dark){:root{--s0:#5ab0ee;--s1:#f58a4b;--s2:#3fc79a;--s3:#e59ac8;--s4:#e0bb3f;--s5:#9bd3f5}}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20.5rem),1fr));gap:0 1.5rem}
.plots figure{max-width:32.5rem;min-width:0}
figcaption strong{color:var(--text)}
svg.plot{display:block;width:100%;height:auto}
svg.plot text{font-size:11px}
svg.plot .unit,svg.plot .empty{fill:var(--muted)}
.grid{stroke:var(--line);stroke-width:.7}
.base{stroke:var(--muted);stroke-width:1}
.s0{--c:var(--s0)}.s1{--c:var(--s1)}.s2{--c:var(--s2)}.s3{--c:var(--s3)}.s4{--c:var(--s4)}.s5{--c:var(--s5)}
.other{--c:var(--muted)}
.point use{fill:var(--c);stroke:var(--page);stroke-width:.8}
.point.busy use{fill:var(--page);stroke:var(--c);stroke-width:1.5}
.interval{fill:none;stroke:var(--c);stroke-width:1.5}
.repetition{fill:var(--c);opacity:.45}
.curve{fill:none;stroke:var(--c);stroke-width:1.3;stroke-linejoin:round}
.heat rect{fill:var(--s0);shape-rendering:crispEdges}.heat .h0{fill:none}.heat .h1{fill-opacity:.25}.heat .h2{fill-opacity:.5}.heat .h3{fill-opacity:.75}
.heat .frame{fill:none;stroke:var(--muted);stroke-width:.7}
@media(max-width:34rem){svg.plot{margin:0 -.2rem}}
)css";
}

StringRef mpg::plotShapes() {
  return R"svg(<svg class="patterns" aria-hidden="true"><defs>
<path id="shape0" d="M-3.7 0a3.7 3.7 0 1 0 7.4 0a3.7 3.7 0 1 0 -7.4 0z"/>
<path id="shape1" d="M-3.3 -3.3h6.6v6.6h-6.6z"/>
<path id="shape2" d="M0 -4.5L4.4 3.2H-4.4z"/>
<path id="shape3" d="M0 -4.7L4.7 0L0 4.7L-4.7 0z"/>
<path id="shape4" d="M0 4.5L4.4 -3.2H-4.4z"/>
<path id="shape5" d="M-1.5 -4.3h3v2.8h2.8v3h-2.8v2.8h-3v-2.8h-2.8v-3h2.8z"/>
</defs></svg>
)svg";
}

void mpg::writePlotKey(raw_ostream &out, StringRef classes, StringRef inside,
                       StringRef text) {
  out << "<li><svg class=\"sample\" viewBox=\"0 0 22 14\" width=\"22\" "
         "height=\"14\" aria-hidden=\"true\"><g class=\""
      << classes << "\">" << inside << "</g></svg> " << text << "</li>\n";
}
