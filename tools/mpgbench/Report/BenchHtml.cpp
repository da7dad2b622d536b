// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgbench --html: one page that can be mailed and opened anywhere, as
// mpgaudit's is. It loads nothing and runs nothing. In front stands whether the
// numbers can be trusted, then what they say, then the numbers.

#include "Support/Format.h"
#include "Support/HtmlPage.h"
#include "mpgbench/Report/BenchHtmlParts.h"
#include "mpgbench/Report/BenchReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace mpg;

/// Ratios beyond it, either way, lie at the end of the picture.
static constexpr double ratioReach = 16;

static constexpr double pictureWidth = 120, pictureHeight = 16;

static StringRef verdictClass(Conclusion::Kind kind) {
  static constexpr StringLiteral names[] = {"clean", "error", "warning",
                                            "none"};
  return names[unsigned(kind)];
}

/// How far the picture goes: the farthest end of an interval, 2 at least.
static double computeReach(const BenchRun &run) {
  double reach = 2;
  for (const ExperimentResult &experiment : run.experiments)
    for (const Conclusion &conclusion : experiment.conclusions)
      if (conclusion.ratio.interval)
        for (double end :
             {conclusion.ratio.interval->low, conclusion.ratio.interval->high})
          if (end > 0 && std::isfinite(end))
            reach = std::max({reach, end, 1 / end});
  return std::min(reach * 1.1, ratioReach);
}

static double ratioX(double ratio, double reach) {
  if (!(ratio > 0))
    return 6;
  double fraction = std::log(ratio) / std::log(reach);
  double middle = pictureWidth / 2;
  return middle + std::clamp(fraction, -1.0, 1.0) * (middle - 6);
}

static void writeRatio(raw_ostream &out, const Ratio &ratio, double reach) {
  if (!ratio.interval || std::isnan(ratio.value) ||
      std::isnan(ratio.interval->low) || std::isnan(ratio.interval->high))
    return;
  auto at = [&](double value) { return format("%.1f", ratioX(value, reach)); };
  double middle = pictureWidth / 2;
  out << "<svg class=\"ratio\" viewBox=\"0 0 " << int(pictureWidth) << " "
      << int(pictureHeight) << "\" width=\"" << int(pictureWidth)
      << "\" height=\"" << int(pictureHeight)
      << "\" aria-hidden=\"true\"><line class=\"one\" x1=\"" << int(middle)
      << "\" x2=\"" << int(middle) << "\" y1=\"0\" y2=\"16\"/><line "
      << "class=\"span\" x1=\"" << at(ratio.interval->low) << "\" x2=\""
      << at(ratio.interval->high) << "\" y1=\"8\" y2=\"8\"/><circle cx=\""
      << at(ratio.value) << "\" cy=\"8\" r=\"3.5\"/></svg>";
}

/// Conclusions of all experiments; ids of their sections are e1, e2, ...
static void writeConclusions(raw_ostream &out, const BenchRun &run) {
  bool isEmpty = none_of(run.experiments, [](const ExperimentResult &one) {
    return !one.conclusions.empty();
  });
  if (isEmpty)
    return;
  bool hasPictures = any_of(run.experiments, [](const ExperimentResult &one) {
    return any_of(one.conclusions, [](const Conclusion &conclusion) {
      return conclusion.ratio.interval.has_value();
    });
  });
  double reach = computeReach(run);
  out << "<h2>Conclusions</h2>\n";
  HtmlTable table(out, "Conclusions",
                  {"shown here?", "sentence|what",
                   hasPictures ? "picture|worse | better" : "picture|",
                   "experiment"});
  for (size_t i = 0; i < run.experiments.size(); ++i)
    for (const Conclusion &conclusion : run.experiments[i].conclusions) {
      table.cell() << "<span class=\"badge " << verdictClass(conclusion.kind)
                   << "\">" << kindWord(conclusion.kind) << "</span>";
      table.cell() << escapeHtml(conclusion.text);
      writeRatio(table.cell(), conclusion.ratio, reach);
      table.cell() << "<a href=\"#e" << i + 1 << "\">"
                   << escapeHtml(run.experiments[i].name) << "</a>";
    }
}

/// The part of the style sheet for the page, after plotStyle().
static StringRef benchStyle() {
  return R"css(
.banner{margin:.9rem 0;padding:.7rem 1rem;background:var(--warning-tint);border:1px solid var(--warning);
border-left-width:4px;border-radius:.4rem}
.banner strong{color:var(--warning)}
.badge.none{color:var(--muted);background:var(--card)}
.contents{display:flex;flex-wrap:wrap;gap:.2rem 1.25rem;list-style:none;padding:0;margin:.6rem 0 0}
main>h2{margin-top:1.75rem}
.sentence{min-width:14rem}
.picture{white-space:nowrap}
.ratio{display:block;margin-top:.25rem}
.ratio .one{stroke:var(--muted);stroke-dasharray:2 2}
.ratio .span{stroke:var(--s0);stroke-width:2.5;stroke-linecap:round}
.ratio circle{fill:var(--s0)}
.machine dd{font-variant-numeric:tabular-nums}
.nodemap table{width:auto}
.nodemap .size{padding:.4rem .6rem}
.shade1{background:color-mix(in srgb,var(--s0) 6%,transparent)}
.shade2{background:color-mix(in srgb,var(--s0) 20%,transparent)}
.shade3{background:color-mix(in srgb,var(--s0) 34%,transparent)}
.shade4{background:color-mix(in srgb,var(--s0) 50%,transparent)}
.absent{font-size:.9375rem}
td,tbody th{font-variant-numeric:tabular-nums}
)css";
}

static void writeHead(raw_ostream &out, const BenchRun &run) {
  beginHtmlPage(out,
                {"mpgbench " + run.version,
                 "What pages cost: " + run.date + " - mpgbench",
                 "What pages cost on this machine",
                 plotStyle().str() + benchStyle().str(), plotShapes().str()});
}

/// "Measured on DATE: 7 repetitions ..., full sizes."
static void writeHow(raw_ostream &out, const BenchRun &run) {
  PointCounts points = countPoints(run);
  out << "<p>";
  if (points.measured < points.all)
    out << points.measured << " of ";
  out << countWord(points.all, "point") << " in "
      << countWord(run.experiments.size(), "experiment") << ", measured "
      << escapeHtml(run.date) << ", " << describeRounds(run)
      << (run.repetitions == 1 ? " repetition" : " repetitions")
      << " each, in random order (seed " << run.seed << ").</p>\n";
  if (run.quick)
    out << "<p class=\"quick\"><span class=\"badge note\">quick</span> Small "
           "arrays and short runs: good for a first look. Leave out "
           "<code>--quick</code> for figures to publish.</p>\n";
}

static void writeLoad(raw_ostream &out, const BenchRun &run) {
  size_t busy = countPoints(run).busy;
  bool isBusy = run.load.isBusy();
  if (!isBusy && !busy) {
    writeHtmlText(out, "The machine was quiet: " + run.load.describe() + ".",
                  "muted");
    return;
  }
  out << "<p class=\"banner\" role=\"note\"><strong>"
      << (isBusy ? "The machine was busy"
                 : "The machine was busy for a part of the time")
      << "</strong>: " << escapeHtml(run.load.describe()) << ". ";
  if (busy)
    out << countWord(busy, "point")
        << " disturbed: hollow in the plots, and without a verdict. ";
  out << "Measure again when nothing else runs.</p>\n";
}

static void writeContents(raw_ostream &out, const BenchRun &run) {
  if (run.experiments.size() < 2)
    return;
  out << "<nav aria-label=\"Experiments\"><ul class=\"contents\">\n";
  for (size_t i = 0; i < run.experiments.size(); ++i)
    out << "<li><a href=\"#e" << i + 1 << "\">"
        << escapeHtml(run.experiments[i].name) << "</a></li>\n";
  out << "</ul></nav>\n";
}

static void writeMachineList(raw_ostream &out, const BenchRun &run) {
  if (run.machine.empty())
    return;
  HtmlSection section(out, "Machine");
  out << "<dl class=\"machine\">\n";
  for (const auto &[name, value] : run.machine)
    out << "<dt>" << escapeHtml(name) << "</dt><dd>" << escapeHtml(value)
        << "</dd>\n";
  out << "</dl>\n";
}

static void writePoints(raw_ostream &out, const BenchRun &run,
                        const ExperimentResult &experiment) {
  if (all_of(experiment.points,
             [](const PointResult &point) { return point.samples.empty(); }))
    return;
  out << "<h3>Points</h3>\n";
  if (std::string shared = describeShared(experiment); !shared.empty())
    writeHtmlText(out, shared, "muted");
  makePointTable(run, experiment)
      .writeHtml(out, "Points of " + experiment.name);
}

static void writeGuideTable(raw_ostream &out,
                            const ExperimentResult &experiment) {
  if (experiment.guide.empty())
    return;
  out << "<h3>What the guide says</h3>\n";
  writeHtmlText(out, "Figures of another machine, for comparison only.",
                "muted");
  makeGuideTable(experiment)
      .writeHtml(out, "Figures of the guide for " + experiment.name);
}

static void writeExperiment(raw_ostream &out, const BenchRun &run,
                            size_t index) {
  const ExperimentResult &experiment = run.experiments[index];
  std::string id = "e" + std::to_string(index + 1);
  HtmlSection section(out, experiment.name, id);
  if (!experiment.title.empty())
    writeHtmlText(out, experiment.title, "verdict");
  if (!experiment.accounting.empty())
    writeHtmlText(out, experiment.accounting, "muted");
  writeExperimentPlots(out, experiment, id);
  for (const std::string &line : describeUnmeasured(experiment))
    writeHtmlText(out, "Not measured: " + line, "absent");
  writePoints(out, run, experiment);
  writeGuideTable(out, experiment);
  writeCounterTable(out, run, experiment);
}

void mpg::writeBenchHtml(raw_ostream &out, const BenchRun &run) {
  writeHead(out, run);
  writeHow(out, run);
  writeLoad(out, run);
  writeContents(out, run);
  out << "</header>\n<main>\n";
  writeConclusions(out, run);
  if (run.experiments.empty())
    out << "<p>There are no experiments in this result.</p>\n";
  writeMachineList(out, run);
  for (size_t i = 0; i < run.experiments.size(); ++i)
    writeExperiment(out, run, i);
  endHtmlPage(out, "mpgbench " + escapeHtml(run.version) +
                       ". A value is the median of its repetitions, each a "
                       "process of its own. The interval holds the true median "
                       "with at least 95 %; below six repetitions there is "
                       "none.");
}
