// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shared part of an experiment's plots: their y axes, the legend, and which
// of the guide's figures are drawn. The guide is about another machine: its
// figures must never squeeze the measured ones.

#include "Support/Format.h"
#include "Support/HtmlPage.h"
#include "mpgbench/Report/BenchHtmlParts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <map>
#include <set>

using namespace llvm;
using namespace mpg;

namespace {

/// A figure of the guide is drawn up to this many times beyond the values.
constexpr double guideReach = 4;
/// Times on a logarithmic axis if the largest is this many times the smallest.
/// Bandwidths start at 0 for longer: there 0 is a value that people know.
constexpr double timeSpan = 10, rateSpan = 100;
/// A plot gets a separate scale if its values end this many times below those
/// of the others.
constexpr double sharedSpan = 3;
/// More single repetitions make the page slow.
constexpr size_t repetitionLimit = 8000;

/// The values of panels that share a y axis.
struct Range {
  double min = 0, max = 0; ///< 0: there are none
  void add(double value) {
    if (!isDrawable(value))
      return;
    min = max == 0 ? value : std::min(min, value);
    max = std::max(max, value);
  }
};

class PlotsWriter {
public:
  PlotsWriter(raw_ostream &out, const ExperimentResult &experiment,
              StringRef prefix)
      : out(out), experiment(experiment), prefix(prefix),
        set(arrangePlots(experiment)), marks(experiment.guide.size()) {}
  std::vector<GuideMark> write();

private:
  void measureRanges();
  void addValues(const PlotPanel &panel, Range &range) const;
  void separateSmallPanels();
  void placeGuide(size_t index);
  ValueAxis axisFor(const Range &range) const;
  void writeOne(size_t index);
  void writeLegend();

  raw_ostream &out;
  const ExperimentResult &experiment;
  StringRef prefix;
  PlotSet set;
  std::vector<GuideMark> marks;
  std::map<size_t, Range> ranges; ///< by group, of what was measured
  std::map<size_t, Range> drawn;  ///< with the guide's figures
  /// By panel, indices of the figures that are drawn there.
  std::map<size_t, std::vector<size_t>> guides;
  std::set<size_t> ownScales; ///< groups of one plot that had to be separate
  size_t letters = 0;
  bool drawsRepetitions = false;
};

} // namespace

void PlotsWriter::addValues(const PlotPanel &panel, Range &range) const {
  for (const PlotPoint &point : panel.points) {
    range.add(point.value);
    if (point.interval) {
      range.add(point.interval->first);
      range.add(point.interval->second);
    }
    if (drawsRepetitions)
      for (double sample : point.samples)
        range.add(sample);
  }
}

/// Where everything starts at 0, small values would be lost below large ones.
void PlotsWriter::separateSmallPanels() {
  size_t nextGroup = ranges.rbegin()->first + 1;
  for (PlotPanel &panel : set.panels) {
    Range own;
    addValues(panel, own);
    if (axisFor(ranges[panel.group]).isLogarithmic() ||
        own.max * sharedSpan >= ranges[panel.group].max)
      continue;
    panel.group = nextGroup++;
    ranges[panel.group] = own;
    ownScales.insert(panel.group);
  }
}

void PlotsWriter::measureRanges() {
  size_t repetitions = 0;
  for (const PlotPanel &panel : set.panels)
    for (const PlotPoint &point : panel.points)
      repetitions += point.samples.size();
  drawsRepetitions = repetitions <= repetitionLimit;
  for (const PlotPanel &panel : set.panels)
    addValues(panel, ranges[panel.group]);
  if (!set.panels.empty())
    separateSmallPanels();
  drawn = ranges;
}

/// A figure for all of x stands only in plots that have the experiment's x.
void PlotsWriter::placeGuide(size_t index) {
  const GuideFigure &figure = experiment.guide[index];
  bool hasPlace = false, isNear = false;
  for (size_t i = 0; i < set.panels.size(); ++i) {
    const PlotPanel &panel = set.panels[i];
    bool isHere = figure.at.empty() ? panel.xName == experiment.xParameter
                                    : is_contained(panel.categories, figure.at);
    if (!isHere)
      continue;
    hasPlace = true;
    const Range &range = ranges[panel.group];
    if (!isDrawable(figure.value) || figure.value > range.max * guideReach ||
        figure.value < range.min / guideReach || letters == 26)
      continue;
    isNear = true;
    drawn[panel.group].add(figure.value);
    guides[i].push_back(index);
  }
  if (isNear)
    marks[index].key = std::string(1, char('A' + letters++));
  else
    marks[index].whyNot = hasPlace
                              ? "not drawn: far from the values here"
                              : "not drawn: no point here to be drawn beside";
}

ValueAxis PlotsWriter::axisFor(const Range &range) const {
  double span = range.max / range.min;
  if (span > (experiment.higherIsBetter ? rateSpan : timeSpan))
    return ValueAxis::logarithmic(range.min, range.max);
  return ValueAxis::linear(range.max);
}

void PlotsWriter::writeOne(size_t index) {
  const PlotPanel &panel = set.panels[index];
  std::string id = (prefix + "-plot" + Twine(index + 1)).str();
  ValueAxis axis = axisFor(drawn[panel.group]);
  PanelDrawing drawing = {panel,
                          axis,
                          experiment.unit,
                          experiment.higherIsBetter,
                          {},
                          drawsRepetitions,
                          id};
  for (size_t figure : guides[index])
    drawing.guides.push_back({experiment.guide[figure].label,
                              experiment.guide[figure].value,
                              experiment.guide[figure].at, marks[figure].key});
  out << "<figure>\n<figcaption id=\"" << id << "\">"
      << escapeHtml(experiment.name);
  if (!panel.xName.empty())
    out << " by " << escapeHtml(panel.xName);
  if (!panel.title.empty())
    out << ": <strong>" << escapeHtml(panel.title) << "</strong>";
  if (ownScales.count(panel.group))
    out << " (a scale of its own)";
  out << "</figcaption>\n";
  writePanel(out, drawing);
  out << "</figure>\n";
}

void PlotsWriter::writeLegend() {
  bool hasBusy = false, hasInterval = false;
  std::set<size_t> shown;
  for (const PlotPanel &panel : set.panels)
    for (const PlotPoint &point : panel.points) {
      shown.insert(point.series);
      hasBusy |= point.isHollow;
      hasInterval |= point.interval.has_value();
    }
  out << "<ul class=\"legend\">\n";
  for (size_t i : shown)
    writePlotKey(out, "point " + seriesClass(i), plotKeyShape(i),
                 set.series[i].empty()
                     ? "median"
                     : escapeHtml(set.series[i]) + ", median");
  if (hasInterval)
    writePlotKey(out, "point other",
                 "<path class=\"interval\" d=\"M11 1V13M8 1H14M8 13H14\"/>",
                 "95 % interval of the median");
  if (drawsRepetitions)
    writePlotKey(out, "point other",
                 "<circle class=\"repetition\" cx=\"7\" cy=\"9\" r=\"1.7\"/>"
                 "<circle class=\"repetition\" cx=\"15\" cy=\"6\" r=\"1.7\"/>",
                 "one repetition");
  if (hasBusy)
    writePlotKey(out, "point busy other", plotKeyShape(0),
                 "hollow: measured while the machine was busy");
  for (size_t i = 0; i < marks.size(); ++i)
    if (!marks[i].key.empty())
      writePlotKey(out, "guide", "<line x1=\"0\" x2=\"22\" y1=\"7\" y2=\"7\"/>",
                   "<strong>" + marks[i].key + "</strong> the guide: " +
                       escapeHtml(experiment.guide[i].label));
  out << "</ul>\n";
}

std::vector<GuideMark> PlotsWriter::write() {
  measureRanges();
  for (size_t i = 0; i < experiment.guide.size(); ++i)
    placeGuide(i);
  if (set.panels.empty())
    return marks;
  out << "<div class=\"plots\">\n";
  for (size_t i = 0; i < set.panels.size(); ++i)
    writeOne(i);
  out << "</div>\n";
  writeLegend();
  if (set.pointsLeftOut)
    out << "<p class=\"muted\">There is no room in the plots for "
        << countWord(set.pointsLeftOut, "more point")
        << ", which the table lists.</p>\n";
  return marks;
}

std::vector<GuideMark> mpg::writePlots(raw_ostream &out,
                                       const ExperimentResult &experiment,
                                       StringRef prefix) {
  if (isNodeMap(experiment)) {
    writeNodeMaps(out, experiment);
    return std::vector<GuideMark>(experiment.guide.size(),
                                  {"", "not drawn: a map has no place for it"});
  }
  return PlotsWriter(out, experiment, prefix).write();
}
