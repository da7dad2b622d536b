// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BenchPlotPanel.h: what stands inside of the axes.

#include "mpgbench/Report/BenchPlotPanel.h"
#include "Render/HtmlParts.h"
#include "Support/StableSort.h"
#include "mpgbench/Report/PanelAxes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace mpg;

namespace {

constexpr size_t colours = 6, shapes = 6;

/// A text beside an axis, which others may not overlap.
struct Label {
  double at;
  std::string text;
};

class PanelWriter {
public:
  PanelWriter(raw_ostream &out, const PanelDrawing &drawing)
      : out(out), drawing(drawing), panel(drawing.panel), frame(drawing) {}
  void write();

private:
  void writeGuides();
  void writeCurves();
  void writePoint(const PlotPoint &point);
  void writeRepetitions(const PlotPoint &point);
  void writeInterval(const PlotPoint &point);
  void writeEmpty();

  raw_ostream &out;
  const PanelDrawing &drawing;
  const PlotPanel &panel;
  PanelFrame frame;
};

} // namespace

std::string mpg::seriesClass(size_t series) {
  return "s" + std::to_string(series % colours);
}

/// Six colours with a shape each, then the same colours with other shapes.
std::string mpg::seriesShape(size_t series) {
  return "shape" + std::to_string((series + series / colours) % shapes);
}

/// Moves labels apart that are closer than a line, upwards from the lowest, and
/// back down where they leave the plot. \p labels: rising.
static void spread(std::vector<Label> &labels, double highest) {
  for (size_t i = 1; i < labels.size(); ++i)
    labels[i].at =
        std::max(labels[i].at, labels[i - 1].at + PanelFrame::lineHeight - 1);
  double limit = highest;
  for (size_t i = labels.size(); i-- > 0; limit -= PanelFrame::lineHeight - 1)
    labels[i].at = std::min(labels[i].at, limit);
}

/// Lines across all points have their letter in the right margin; a mark at one
/// of them has it at its right end.
void PanelWriter::writeGuides() {
  std::map<size_t, std::vector<Label>> letters; // by category
  size_t across = panel.categories.size();
  double room = panel.numbers.empty() ? (frame.right - frame.left) /
                                            double(panel.categories.size())
                                      : 2 * PanelFrame::numberMargin;
  double half = std::min(room, 110.0) / 2 - 1;
  for (const DrawnGuide &guide : drawing.guides) {
    size_t category = size_t(find(panel.categories, guide.figure->at) -
                             panel.categories.begin());
    bool isAcross = guide.figure->at.empty();
    double from = isAcross ? frame.left : frame.x(category) - half,
           to = isAcross ? frame.right : frame.x(category) + half - 8,
           at = frame.y(guide.figure->value);
    out << "<g class=\"guide\"><title>" << guide.key << ": "
        << escapeHtml(guide.figure->label) << ": "
        << formatMeasured(guide.figure->value) << " "
        << escapeHtml(drawing.unit) << "</title><line x1=\"" << svgNumber(from)
        << "\" x2=\"" << svgNumber(to) << "\" y1=\"" << svgNumber(at)
        << "\" y2=\"" << svgNumber(at) << "\"/></g>\n";
    letters[isAcross ? across : category].push_back({at + 4, guide.key});
  }
  for (auto &[category, labels] : letters) {
    stableSort(labels,
               [](const Label &a, const Label &b) { return a.at < b.at; });
    spread(labels, frame.bottom + 4);
    double at =
        category == across ? frame.right + 4 : frame.x(category) + half - 7;
    for (const Label &label : labels)
      out << "<text class=\"key\" x=\"" << svgNumber(at) << "\" y=\""
          << svgNumber(label.at) << "\">" << label.text << "</text>\n";
  }
}

/// From size to size of each series.
void PanelWriter::writeCurves() {
  for (size_t series : frame.lanes) {
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
      out << command << svgNumber(frame.laneX(point)) << " "
          << svgNumber(frame.y(point.point->summary.median));
      command = " L";
    }
    out << "\"/>\n";
  }
}

void PanelWriter::writeRepetitions(const PlotPoint &point) {
  size_t count = point.point->samples.size();
  double lane =
      (frame.right - frame.left) / double(panel.categories.size()) - 8;
  // On both sides of the interval, in the order of the rounds.
  double reach = panel.numbers.empty()
                     ? std::min(lane / double(frame.lanes.size()) / 2 - 2, 10.0)
                     : 0;
  for (size_t i = 0; i < count; ++i) {
    double value = point.point->samples[i].value;
    if (!isDrawable(value))
      continue;
    double side = count > 1 ? 2.0 * double(i) / double(count - 1) - 1 : 0;
    out << "<circle class=\"repetition\" cx=\""
        << svgNumber(frame.laneX(point) + side * reach) << "\" cy=\""
        << svgNumber(frame.y(value)) << "\" r=\"1.7\"/>";
  }
}

void PanelWriter::writeInterval(const PlotPoint &point) {
  const std::optional<Interval> &interval = point.point->summary.interval;
  if (!interval || !isDrawable(interval->low) || !isDrawable(interval->high))
    return;
  double at = frame.laneX(point), low = frame.y(interval->low),
         high = frame.y(interval->high);
  out << "<path class=\"interval\" d=\"M" << svgNumber(at) << " "
      << svgNumber(low) << " L" << svgNumber(at) << " " << svgNumber(high);
  for (double end : {low, high})
    out << " M" << svgNumber(at - 3) << " " << svgNumber(end) << " L"
        << svgNumber(at + 3) << " " << svgNumber(end);
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
      << svgNumber(frame.laneX(point)) << "\" y=\""
      << svgNumber(frame.y(summary.median)) << "\"/></g>\n";
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
  out << "<svg class=\"plot\" role=\"img\" aria-labelledby=\""
      << drawing.captionId << "\" viewBox=\"0 0 " << int(PanelFrame::width)
      << " " << int(std::ceil(frame.height)) << "\">\n";
  writePanelAxes(out, drawing, frame);
  out << "<text class=\"unit\" text-anchor=\"middle\" x=\""
      << svgNumber((frame.left + frame.right) / 2) << "\" y=\""
      << svgNumber(std::ceil(frame.height) - 5) << "\">"
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
