// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plots of an experiment and their y axes.

#include "Support/Format.h"
#include "Support/HtmlPage.h"
#include "mpgbench/Report/BenchHtmlParts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;
using namespace mpg;

/// Times on a logarithmic axis if the largest is this many times the smallest.
/// Bandwidths start at 0 for longer: there 0 is a value that people know.
static constexpr double timeSpan = 10, rateSpan = 100;
/// A plot gets a separate scale if its values end this many times below those
/// of the others.
static constexpr double sharedSpan = 3;
/// More single repetitions make the page slow.
static constexpr size_t repetitionLimit = 8000;

static void dropManyRepetitions(std::vector<PlotPanel> &panels) {
  size_t repetitions = 0;
  for (const PlotPanel &panel : panels)
    for (const PlotPoint &point : panel.points)
      repetitions += point.samples.size();
  if (repetitions > repetitionLimit)
    for (PlotPanel &panel : panels)
      for (PlotPoint &point : panel.points)
        point.samples.clear();
}

static std::string makeCaption(const ExperimentResult &experiment,
                               const PlotPanel &panel) {
  std::string text = escapeHtml(experiment.name);
  if (!panel.xName.empty())
    text += " by " + escapeHtml(panel.xName);
  if (!panel.title.empty())
    text += ": <strong>" + escapeHtml(panel.title) + "</strong>";
  return text;
}

static std::vector<Plot> makePlots(const ExperimentResult &experiment,
                                   std::vector<PlotPanel> panels,
                                   StringRef prefix) {
  dropManyRepetitions(panels);
  double span = experiment.higherIsBetter ? rateSpan : timeSpan;
  std::map<size_t, ValueRange> ranges; // by group
  for (const PlotPanel &panel : panels)
    ranges[panel.group].add(panel);
  std::vector<Plot> plots;
  for (PlotPanel &panel : panels) {
    const ValueRange &shared = ranges[panel.group];
    ValueRange own;
    own.add(panel);
    // Where everything starts at 0, small values would be lost below large
    // ones.
    bool isSmall =
        !shared.axis(span).isLogarithmic() && own.max * sharedSpan < shared.max;
    std::string caption = makeCaption(experiment, panel);
    if (isSmall)
      caption += " (a scale of its own)";
    plots.push_back({(prefix + "-plot" + Twine(plots.size() + 1)).str(),
                     caption, std::move(panel),
                     (isSmall ? own : shared).axis(span), experiment.unit,
                     experiment.higherIsBetter});
  }
  return plots;
}

void mpg::writeExperimentPlots(raw_ostream &out,
                               const ExperimentResult &experiment,
                               StringRef prefix) {
  if (isNodeMap(experiment))
    return writeNodeMaps(out, experiment);
  PlotSet set = arrangePlots(experiment);
  if (set.panels.empty())
    return;
  PlotLegend legend = {
      {}, "95 % interval of the median", "measured while the machine was busy"};
  for (const std::string &name : set.series)
    legend.series.push_back(name.empty() ? "median" : name + ", median");
  writePlots(out, makePlots(experiment, std::move(set.panels), prefix), legend);
  if (set.pointsLeftOut)
    writeHtmlText(out,
                  "There is no room in the plots for " +
                      countWord(set.pointsLeftOut, "more point") +
                      ", which the table lists.",
                  "muted");
}
