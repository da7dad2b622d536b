// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How numbers, points and their pages are written in tables. See BenchReport.h.

#include "Support/Format.h"
#include "mpgbench/Report/BenchReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace mpg;

/// "2M 97 %, normal 3 %": what lay under the arrays, of all samples together;
/// "" if nothing is known.
static std::string describeBacking(const PointResult &point) {
  Backing backing = getBacking(point);
  double normal = double(backing.normalBytes), thp = double(backing.thpBytes),
         hugetlb = double(backing.hugetlbBytes);
  double all = normal + thp + hugetlb;
  // By the size that was asked for, which hugetlb gives or refuses.
  StringRef pages = parameter(point.parameters, "pages");
  bool isSize = parseBytes(pages).value_or(0) >= uint64_t(1) << 20;
  std::string text;
  for (auto [bytes, label] : {std::pair(hugetlb, isSize ? pages : "hugetlb"),
                              std::pair(thp, StringRef("THP")),
                              std::pair(normal, StringRef("normal"))}) {
    if (bytes <= 0)
      continue;
    // Never 0 % for a part that exists, or 100 % for less than all.
    unsigned percent = std::clamp(unsigned(100 * bytes / all + 0.5), 1u, 99u);
    text += formatv("{0}{1} {2} %", text.empty() ? "" : ", ", label,
                    bytes == all ? 100 : percent);
  }
  return text;
}

PointCounts mpg::countPoints(const BenchRun &run) {
  PointCounts counts;
  for (const ExperimentResult &experiment : run.experiments)
    for (const PointResult &point : experiment.points) {
      ++counts.all;
      counts.measured += !point.samples.empty();
      counts.busy += point.isBusy;
      counts.rounds = std::max(counts.rounds, point.samples.size());
    }
  return counts;
}

// Names of points

std::string mpg::describeOthers(const Parameters &parameters,
                                ArrayRef<StringRef> without) {
  std::string text;
  for (const auto &[name, value] : parameters)
    if (!is_contained(without, name))
      text += (text.empty() ? "" : ", ") + name + " " + value;
  return text;
}

/// Names of the parameters of all points, in order.
static std::vector<std::string> parameterNames(const ExperimentResult &result) {
  std::vector<std::string> names;
  for (const PointResult &point : result.points)
    for (const auto &pair : point.parameters)
      if (!is_contained(names, pair.first))
        names.push_back(pair.first);
  return names;
}

StringRef mpg::kindWord(Conclusion::Kind kind) {
  static constexpr StringLiteral names[] = {"yes", "no", "undecided",
                                            "not measured"};
  return names[unsigned(kind)];
}

static bool isShared(ArrayRef<const PointResult *> points, StringRef name) {
  return all_of(points, [&](const PointResult *point) {
    return parameter(point->parameters, name) ==
           parameter(points.front()->parameters, name);
  });
}

/// Those that have the same value in all points, of which there are two at
/// least.
static Parameters sharedParameters(const ExperimentResult &result) {
  Parameters shared;
  auto all = to_vector(make_pointer_range(result.points));
  if (all.size() < 2)
    return shared;
  for (const std::string &name : parameterNames(result))
    if (isShared(all, name))
      shared.push_back({name, parameter(all.front()->parameters, name).str()});
  return shared;
}

std::string mpg::describeShared(const ExperimentResult &result) {
  std::string text;
  for (const auto &[name, value] : sharedParameters(result))
    text += (text.empty() ? "all with " : ", ") + name + "=" + value;
  return text;
}

/// What \p points have in common and not all points have.
static std::string commonText(const ExperimentResult &result,
                              ArrayRef<const PointResult *> points) {
  std::string text;
  auto all = to_vector(make_pointer_range(result.points));
  for (const std::string &name : parameterNames(result)) {
    StringRef value = parameter(points.front()->parameters, name);
    if (!value.empty() && isShared(points, name) && !isShared(all, name))
      text += (text.empty() ? "" : " ") + name + "=" + value.str();
  }
  return text;
}

std::string mpg::pointLabel(const ExperimentResult &result,
                            const PointResult &point) {
  std::string text = commonText(result, {&point});
  return text.empty() ? point.name : text;
}

/// "pages=1G, 12 points": what these have in common; "all points".
static std::string pointsLabel(const ExperimentResult &result,
                               ArrayRef<const PointResult *> points) {
  if (points.size() == 1)
    return pointLabel(result, *points.front());
  if (points.size() == result.points.size())
    return "all points";
  std::string text = commonText(result, points);
  return text + (text.empty() ? "" : ", ") + std::to_string(points.size()) +
         " points";
}

std::vector<std::string>
mpg::describeUnmeasured(const ExperimentResult &result) {
  std::vector<std::pair<StringRef, std::vector<const PointResult *>>> groups;
  for (const PointResult &point : result.points) {
    if (!point.samples.empty())
      continue;
    auto group = find_if(
        groups, [&](const auto &one) { return one.first == point.missing; });
    if (group == groups.end())
      group = groups.insert(groups.end(), {point.missing, {}});
    group->second.push_back(&point);
  }
  std::vector<std::string> lines;
  for (const auto &[reason, points] : groups)
    lines.push_back(pointsLabel(result, points) + ": " +
                    (reason.empty() ? "no rounds" : reason.str()));
  return lines;
}

// Tables

static std::string describeInterval(const Summary &summary) {
  if (!summary.interval)
    return "-";
  return "[" + formatFigureLike(summary.interval->low, summary.median) + ", " +
         formatFigureLike(summary.interval->high, summary.median) + "]";
}

static std::string describeNotes(const PointResult &point,
                                 unsigned repetitions) {
  std::string text = point.isBusy ? "busy" : "";
  if (!point.missing.empty())
    text += (text.empty() ? "" : ", ") + ("stopped: " + point.missing);
  else if (point.samples.size() < repetitions)
    text += (text.empty() ? "" : ", ") + std::to_string(point.samples.size()) +
            " of " + std::to_string(repetitions) + " rounds";
  return text;
}

/// A whole number is shown as one.
static std::string formatWholeOrFigure(double value) {
  bool isWhole = std::abs(value) < 1e15 && value == double(int64_t(value));
  return isWhole ? std::to_string(int64_t(value)) : formatFigure(value);
}

static std::vector<std::string> pointCells(const BenchRun &run,
                                           const ExperimentResult &result,
                                           const PointResult &point,
                                           ArrayRef<std::string> parameters,
                                           ArrayRef<std::string> figures) {
  const Summary &summary = point.summary;
  std::vector<std::string> cells;
  for (const std::string &name : parameters)
    cells.push_back(parameter(point.parameters, name).str());
  cells.push_back(formatFigure(summary.median));
  cells.push_back(describeInterval(summary));
  cells.push_back(formatFigureLike(
      result.higherIsBetter ? summary.max : summary.min, summary.median));
  for (const std::string &name : figures) {
    std::optional<double> figure = findFigure(point, name);
    cells.push_back(figure ? formatWholeOrFigure(*figure) : "-");
  }
  cells.push_back(describeBacking(point));
  cells.push_back(describeNotes(point, run.repetitions));
  return cells;
}

Table mpg::makePointTable(const BenchRun &run, const ExperimentResult &result,
                          ArrayRef<std::string> figures) {
  Table table;
  Parameters shared = sharedParameters(result);
  std::vector<std::string> parameters = parameterNames(result);
  erase_if(parameters, [&](const std::string &name) {
    return !parameter(shared, name).empty();
  });
  for (const std::string &name : parameters)
    table.addColumn(name);
  table.addNumber("median\n" + result.unit);
  table.addNumber("95 % interval");
  table.addNumber("best");
  for (std::string name : figures) {
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '_' || c == '-'; },
        '\n');
    table.addNumber(name);
  }
  table.addColumn("backing");
  table.addColumn("");
  for (const PointResult &point : result.points)
    if (!point.samples.empty())
      table.addRow(pointCells(run, result, point, parameters, figures));
  return table;
}

Table mpg::makeGuideTable(const ExperimentResult &result) {
  Table table({"", "size|" + result.unit, ""});
  for (const GuideFigure &figure : result.guide)
    table.addRow({figure.label, formatWholeOrFigure(figure.value),
                  "(" + figure.source + ")"});
  return table;
}
