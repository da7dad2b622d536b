// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The answers, before anything else: each sentence with its verdict, and the
// interval that it rests on as a picture, all on one scale.

#include "Render/HtmlParts.h"
#include "mpgbench/Report/BenchHtmlParts.h"
#include "mpgbench/Report/PointLabels.h"
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
  switch (kind) {
  case Conclusion::Kind::yes:
    return "clean";
  case Conclusion::Kind::no:
    return "error";
  case Conclusion::Kind::undecided:
    return "warning";
  case Conclusion::Kind::notMeasured:
    return "none";
  }
  return "";
}

/// How far the picture goes: the farthest end of an interval, 2 at least.
static double reachOf(const BenchRun &run) {
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

void mpg::writeConclusions(raw_ostream &out, const BenchRun &run) {
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
  double reach = reachOf(run);
  out << "<h2>Conclusions</h2>\n";
  beginTable(out, "Conclusions",
             {"shown here?", "what", hasPictures ? "worse | better" : "",
              "experiment"});
  for (size_t i = 0; i < run.experiments.size(); ++i)
    for (const Conclusion &conclusion : run.experiments[i].conclusions) {
      out << "<tr><td><span class=\"badge " << verdictClass(conclusion.kind)
          << "\">" << kindWord(conclusion.kind)
          << "</span></td><td class=\"sentence\">"
          << escapeHtml(conclusion.text) << "</td><td class=\"picture\">";
      writeRatio(out, conclusion.ratio, reach);
      out << "</td><td><a href=\"#e" << i + 1 << "\">"
          << escapeHtml(run.experiments[i].name) << "</a></td></tr>\n";
    }
  endTable(out);
}
