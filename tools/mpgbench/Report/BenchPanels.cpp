// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Not all points of an experiment have the same parameters: triad has some
// with kinds of pages and some with paging policies. Points with the same names
// of parameters are a group; a group in which the experiment's parameter for
// the x axis is missing, or the same everywhere, takes the first that varies.

#include "Support/Format.h"
#include "Support/HtmlPage.h"
#include "Support/StableSort.h"
#include "mpgbench/Report/BenchHtmlParts.h"
#include "mpgbench/Report/BenchReport.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <set>

using namespace llvm;
using namespace mpg;

/// Widest number of series that one plot holds, and of plots.
static constexpr size_t plotSeriesLimit = 24, plotPanelLimit = 24;

namespace {

/// Points whose parameters have the same names.
struct Group {
  std::vector<std::string> names;
  std::vector<const PointResult *> points;
  std::string x, series; ///< parameters; "": none
};

class Arranger {
public:
  explicit Arranger(const ExperimentResult &experiment)
      : experiment(experiment) {}
  PlotSet arrange();

private:
  void collectGroups();
  void chooseAxes(Group &group) const;
  void addPanels(const Group &group);
  void addPanel(const Group &group, PlotPanel panel,
                const std::vector<const PointResult *> &points);
  void splitAndKeep(PlotPanel panel);
  size_t findSeries(const Group &group, const PointResult &point);

  const ExperimentResult &experiment;
  std::vector<Group> groups;
  PlotSet set;
};

} // namespace

/// Categories that a plot holds if it has \p series series.
static size_t categoryLimit(size_t series) {
  // Units of the drawing: about 330 for all, 10 for a series in a category.
  return std::max<size_t>(1, 330 / std::max<size_t>(20, 10 * series + 8));
}

static std::vector<std::string> joinNames(const Parameters &parameters) {
  std::vector<std::string> names;
  for (const auto &[name, value] : parameters)
    names.push_back(name);
  return names;
}

static PlotPoint makePoint(const PointResult &result, size_t series,
                           size_t category) {
  PlotPoint point;
  point.name = result.name;
  point.note = ", " + countWord(result.samples.size(), "repetition") +
               (result.isBusy ? ", while the machine was busy" : "");
  point.value = result.summary.median;
  if (result.summary.interval)
    point.interval = {result.summary.interval->low,
                      result.summary.interval->high};
  point.samples = getValues(result);
  point.isHollow = result.isBusy;
  point.series = series;
  point.category = category;
  return point;
}

/// "16K" and "1G" as bytes, "0.5" as it is; 0 if it is neither.
static double parseAxisValue(StringRef text) {
  if (std::optional<uint64_t> bytes = parseBytes(text))
    return double(*bytes);
  double number = 0;
  if (text.getAsDouble(number) || !isDrawable(number))
    return 0;
  return number;
}

void Arranger::collectGroups() {
  for (const PointResult &point : experiment.points) {
    std::vector<std::string> names = joinNames(point.parameters);
    auto group =
        find_if(groups, [&](const Group &one) { return one.names == names; });
    if (group == groups.end())
      group = groups.insert(groups.end(), {names, {}, "", ""});
    group->points.push_back(&point);
  }
}

void Arranger::chooseAxes(Group &group) const {
  if (is_contained(group.names, experiment.seriesParameter) &&
      experiment.seriesParameter != experiment.xParameter)
    group.series = experiment.seriesParameter;
  std::vector<std::string> candidates = group.names;
  if (is_contained(group.names, experiment.xParameter))
    candidates.insert(candidates.begin(), experiment.xParameter);
  erase_if(candidates,
           [&](const std::string &name) { return name == group.series; });
  auto varies = [&](const std::string &name) {
    StringRef first = parameter(group.points.front()->parameters, name);
    return any_of(group.points, [&](const PointResult *point) {
      return parameter(point->parameters, name) != first;
    });
  };
  auto chosen = find_if(candidates, varies);
  if (chosen == candidates.end())
    chosen = candidates.begin();
  if (chosen != candidates.end())
    group.x = *chosen;
}

size_t Arranger::findSeries(const Group &group, const PointResult &point) {
  std::string name;
  if (!group.series.empty())
    name = group.series + " " + parameter(point.parameters, group.series).str();
  auto found = find(set.series, name);
  if (found == set.series.end())
    found = set.series.insert(set.series.end(), name);
  return size_t(found - set.series.begin());
}

/// More categories than there is room for go to further panels, and series
/// above the limit are left out.
void Arranger::splitAndKeep(PlotPanel panel) {
  std::set<size_t> series;
  for (const PlotPoint &point : panel.points)
    series.insert(point.series);
  if (series.size() > plotSeriesLimit) {
    size_t last = *std::next(series.begin(), plotSeriesLimit - 1);
    size_t before = panel.points.size();
    erase_if(panel.points,
             [&](const PlotPoint &point) { return point.series > last; });
    set.pointsLeftOut += before - panel.points.size();
  }
  size_t limit = panel.numbers.empty()
                     ? categoryLimit(std::min(series.size(), plotSeriesLimit))
                     : panel.categories.size();
  for (size_t first = 0; first < panel.categories.size(); first += limit) {
    PlotPanel part = panel;
    size_t count = std::min(limit, panel.categories.size() - first);
    part.categories.assign(panel.categories.begin() + ptrdiff_t(first),
                           panel.categories.begin() + ptrdiff_t(first + count));
    erase_if(part.points, [&](const PlotPoint &point) {
      return point.category < first || point.category >= first + count;
    });
    for (PlotPoint &point : part.points)
      point.category -= first;
    if (!part.points.empty() && set.panels.size() < plotPanelLimit)
      set.panels.push_back(std::move(part));
    else
      set.pointsLeftOut += part.points.size();
  }
}

void Arranger::addPanel(const Group &group, PlotPanel panel,
                        const std::vector<const PointResult *> &points) {
  std::vector<std::pair<double, std::string>> values; // of x
  for (const PointResult *point : points) {
    StringRef text = parameter(point->parameters, group.x);
    if (none_of(values, [&](const auto &one) { return one.second == text; }))
      values.push_back({parseAxisValue(text), text.str()});
  }
  bool areNumbers = experiment.xIsNumber &&
                    none_of(values, [](const auto &v) { return v.first <= 0; });
  if (areNumbers)
    stableSort(values,
               [](const auto &a, const auto &b) { return a.first < b.first; });
  for (const auto &[number, text] : values) {
    panel.categories.push_back(text);
    if (areNumbers)
      panel.numbers.push_back(number);
  }
  for (const PointResult *point : points) {
    if (point->samples.empty() || !isDrawable(point->summary.median))
      continue;
    auto category =
        find(panel.categories, parameter(point->parameters, group.x).str());
    panel.points.push_back(
        makePoint(*point, findSeries(group, *point),
                  size_t(category - panel.categories.begin())));
  }
  if (!panel.points.empty())
    splitAndKeep(std::move(panel));
}

void Arranger::addPanels(const Group &group) {
  std::vector<std::string> titles;
  std::vector<std::vector<const PointResult *>> points;
  for (const PointResult *point : group.points) {
    std::string title =
        describeOthers(point->parameters, {group.x, group.series});
    size_t index = size_t(find(titles, title) - titles.begin());
    if (index == titles.size()) {
      titles.push_back(title);
      points.push_back({});
    }
    points[index].push_back(point);
  }
  for (size_t i = 0; i < titles.size(); ++i) {
    PlotPanel panel;
    panel.title = titles[i];
    panel.xName = group.x;
    panel.group = size_t(&group - groups.data());
    addPanel(group, std::move(panel), points[i]);
  }
}

PlotSet Arranger::arrange() {
  collectGroups();
  for (Group &group : groups)
    chooseAxes(group);
  for (const Group &group : groups)
    addPanels(group);
  return std::move(set);
}

PlotSet mpg::arrangePlots(const ExperimentResult &experiment) {
  return Arranger(experiment).arrange();
}
