// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two runs beside each other, such as before and after a change of the kernel,
// of its settings or of libmpg. Their rounds have nothing to do with each
// other, so that samples are compared as independent ones.

#include "Support/Format.h"
#include "mpgbench/Report/PointLabels.h"
#include "mpgbench/Report/PointVerdict.h"
#include "mpgbench/Report/RunDifferences.h"
#include "mpgbench/Report/TextTable.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

namespace {

struct ComparedPoint {
  const PointResult &before, &after;
  PointVerdict verdict;
};

struct Counts {
  unsigned compared = 0, better = 0, worse = 0;
};

} // namespace

static std::string describeMedian(const PointResult &point) {
  return point.samples.empty() ? "-" : formatFigure(point.summary.median);
}

static std::string describeRatio(const ComparedPoint &point) {
  if (point.before.samples.empty() || point.after.samples.empty())
    return "-";
  const Ratio &ratio = point.verdict.ratio;
  std::string text = formatv("{0:f3}", ratio.value);
  if (ratio.interval)
    text +=
        formatv(" [{0:f3}, {1:f3}]", ratio.interval->low, ratio.interval->high);
  return text;
}

static const PointResult *pointNamed(const ExperimentResult &result,
                                     StringRef name) {
  for (const PointResult &point : result.points)
    if (point.name == name)
      return &point;
  return nullptr;
}

static const ExperimentResult *experimentNamed(const BenchRun &run,
                                               StringRef name) {
  for (const ExperimentResult &experiment : run.experiments)
    if (experiment.name == name)
      return &experiment;
  return nullptr;
}

/// The points that both have, each with its verdict.
static std::vector<ComparedPoint> comparePoints(const ExperimentResult &before,
                                                const ExperimentResult &after) {
  std::vector<ComparedPoint> points;
  for (const PointResult &point : before.points)
    if (const PointResult *other = pointNamed(after, point.name))
      points.push_back(
          {point, *other, judgePoint(point, *other, before.higherIsBetter)});
  return points;
}

/// With whole names, which `mpgbench run` takes, or with short ones.
static TextTable makeTable(const ExperimentResult &before,
                           ArrayRef<ComparedPoint> points, bool isShort) {
  TextTable table;
  table.addColumn("point", /*isNumber=*/false);
  for (StringRef header : {"before", "after", "ratio [95 %]"})
    table.addColumn(header, /*isNumber=*/true);
  table.addColumn("", /*isNumber=*/false);
  for (const ComparedPoint &point : points)
    table.addRow(
        {isShort ? pointLabel(before, point.before) : point.before.name,
         describeMedian(point.before), describeMedian(point.after),
         describeRatio(point), point.verdict.text});
  return table;
}

static void countVerdicts(ArrayRef<ComparedPoint> points, Counts &counts) {
  for (const ComparedPoint &point : points) {
    counts.compared += point.verdict.kind != PointVerdict::Kind::none;
    counts.better += point.verdict.kind == PointVerdict::Kind::better;
    counts.worse += point.verdict.kind == PointVerdict::Kind::worse;
  }
}

static void writeExperiment(raw_ostream &out, const ExperimentResult &before,
                            const ExperimentResult &after, Counts &counts) {
  out << "\n" << printable(before.name) << ", " << printable(before.unit);
  if (before.unit != after.unit ||
      before.higherIsBetter != after.higherIsBetter) {
    out << ": not compared: the unit is " << printable(after.unit)
        << " in the second file\n";
    return;
  }
  out << (before.higherIsBetter ? " (more is better)\n"
                                : " (less is better)\n");
  if (before.accounting != after.accounting)
    writeDifference(out, "counted", before.accounting, after.accounting);
  constexpr size_t maxColumns = 98;
  std::vector<ComparedPoint> points = comparePoints(before, after);
  TextTable table = makeTable(before, points, /*isShort=*/false);
  if (table.width() > maxColumns)
    table = makeTable(before, points, /*isShort=*/true);
  table.write(out, 2);
  countVerdicts(points, counts);
}

/// Points of \p run that \p other does not have.
static void writeOnly(raw_ostream &out, StringRef which, const BenchRun &run,
                      const BenchRun &other) {
  std::string names;
  for (const ExperimentResult &experiment : run.experiments) {
    const ExperimentResult *match = experimentNamed(other, experiment.name);
    if (!match) {
      names += (names.empty() ? "" : ", ") + experiment.name + " (all of it)";
      continue;
    }
    for (const PointResult &point : experiment.points)
      if (!pointNamed(*match, point.name))
        names += (names.empty() ? "" : ", ") + point.name;
  }
  if (!names.empty())
    out << "\n"
        << fillText(("Only in the " + which + ": " + printable(names)).str(), 2)
        << "\n";
}

static void writeSummary(raw_ostream &out, const Counts &counts) {
  out << "\n";
  if (!counts.compared) {
    out << "No point could be compared.\n";
    return;
  }
  std::string text = formatv("{0} {1} compared: ", counts.compared,
                             counts.compared == 1 ? "point" : "points");
  if (counts.better + counts.worse == 0)
    text += "no difference that is certain.";
  else
    text += formatv("{0} faster, {1} slower.", counts.better, counts.worse);
  text += " A difference counts if its interval excludes 1 and it is 2 % or "
          "more.";
  if (counts.better + counts.worse > 0 && counts.compared > 1)
    text += formatv(" Without any difference, {0:f1} of {1} intervals of 95 % "
                    "exclude 1 by chance.",
                    0.05 * counts.compared, counts.compared);
  out << fillText(text, 0) << "\n";
}

unsigned mpg::writeComparison(raw_ostream &out, const BenchRun &before,
                              const BenchRun &after) {
  out << "before: " << printable(before.date) << ", " << before.repetitions
      << " rounds\nafter:  " << printable(after.date) << ", "
      << after.repetitions << " rounds\n";
  writeRunDifferences(out, before, after);
  Counts counts;
  for (const ExperimentResult &experiment : before.experiments)
    if (const ExperimentResult *other = experimentNamed(after, experiment.name))
      writeExperiment(out, experiment, *other, counts);
  writeOnly(out, "first file", before, after);
  writeOnly(out, "second file", after, before);
  writeSummary(out, counts);
  return counts.worse;
}
