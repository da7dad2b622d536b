// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two runs beside each other, such as before and after a change of the kernel,
// of its settings or of libmpg. Their rounds have nothing to do with each
// other, so that samples are compared as independent ones.

#include "Support/Format.h"
#include "Support/Table.h"
#include "mpgbench/Report/BenchReport.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

/// "what: before; then after" as an indented paragraph.
static void writeDifference(raw_ostream &out, StringRef what, StringRef before,
                            StringRef after) {
  auto word = [](StringRef text) {
    return text.empty() ? std::string("not said") : printable(text);
  };
  writeFilled(out, "  ",
              (what + ": " + word(before) + "; then " + word(after)).str(), 4);
}

static void writeMachineDifferences(raw_ostream &out, const BenchRun &before,
                                    const BenchRun &after) {
  std::vector<std::string> names;
  for (const Parameters *machine : {&before.machine, &after.machine})
    for (const auto &pair : *machine)
      // Free pages change by the minute; points have what they got in their
      // table.
      if (!is_contained(names, pair.first) && pair.first != "pools")
        names.push_back(pair.first);
  bool isFirst = true;
  for (const std::string &name : names) {
    StringRef first = parameter(before.machine, name),
              second = parameter(after.machine, name);
    if (first == second)
      continue;
    if (isFirst)
      out << "The machines differ:\n";
    isFirst = false;
    writeDifference(out, printable(name), first, second);
  }
}

/// Nothing if there are none.
static void writeRunDifferences(raw_ostream &out, const BenchRun &before,
                                const BenchRun &after) {
  writeMachineDifferences(out, before, after);
  auto sizes = [](const BenchRun &run) {
    return run.quick ? "--quick, small arrays" : "whole arrays";
  };
  if (before.quick != after.quick || before.version != after.version)
    out << "The runs differ:\n";
  if (before.quick != after.quick)
    writeDifference(out, "sizes", sizes(before), sizes(after));
  if (before.version != after.version)
    writeDifference(out, "mpgbench", before.version, after.version);
}

namespace {

/// One point in two runs. The difference is called real if the interval of the
/// ratio excludes 1 and the ratio is 2 % away from it. The intervals hold 95 %
/// each and are not widened for their number, which with seven rounds would
/// leave nothing to be seen: out of a hundred points without a difference about
/// five intervals exclude 1. Most of those are below 2 %, as are the small
/// shifts between two runs of the same thing; and the text says how many chance
/// would give.
struct PointVerdict {
  enum class Kind : uint8_t { none, same, small, better, worse };
  Kind kind = Kind::none; ///< none: it cannot be compared
  Ratio ratio;            ///< after to before, in the experiment's unit
  std::string text;       ///< "faster 1.12x; THP pages before, hugetlb after"
};

} // namespace

static constexpr double smallestRatio = 1.02;

/// The kind of most pages that lay under the arrays; "" if nothing is known.
static StringRef mainBacking(const PointResult &point) {
  Backing backing = getBacking(point);
  double normal = double(backing.normalBytes), thp = double(backing.thpBytes),
         hugetlb = double(backing.hugetlbBytes);
  if (normal + thp + hugetlb <= 0)
    return "";
  if (hugetlb >= std::max(normal, thp))
    return "hugetlb";
  return thp >= normal ? "THP" : "normal";
}

/// An obvious reason for a difference: other pages than before.
static std::string backingChange(const PointResult &before,
                                 const PointResult &after) {
  StringRef first = mainBacking(before), second = mainBacking(after);
  if (first == second || first.empty() || second.empty())
    return {};
  return ("; " + first + " pages before, " + second + " after").str();
}

/// The reason for a missing verdict; "" if there can be one.
static std::string whyNot(const PointResult &before, const PointResult &after,
                          const Ratio &ratio) {
  if (before.samples.empty() || after.samples.empty()) {
    if (after.samples.empty() && before.samples.empty())
      return "not measured";
    return after.samples.empty() ? "not measured after" : "not measured before";
  }
  if (before.isBusy || after.isBusy)
    return std::string("no verdict: busy") + (!after.isBusy    ? " before"
                                              : !before.isBusy ? " after"
                                                               : "");
  return ratio.interval ? "" : "too few rounds";
}

/// pre: there can be a verdict.
static void judgeRatio(PointVerdict &verdict, bool higherIsBetter) {
  using Kind = PointVerdict::Kind;
  double factor = std::max(verdict.ratio.value, 1 / verdict.ratio.value);
  if (!verdict.ratio.isReal()) {
    verdict.kind = Kind::same;
    verdict.text = "no difference seen";
  } else if (factor < smallestRatio) {
    verdict.kind = Kind::small;
    verdict.text = "below 2 %";
  } else {
    bool isBetter = (verdict.ratio.value > 1) == higherIsBetter;
    verdict.kind = isBetter ? Kind::better : Kind::worse;
    verdict.text =
        formatv("{0} {1:f2}x", isBetter ? "faster" : "slower", factor);
  }
}

static PointVerdict judgePoint(const PointResult &before,
                               const PointResult &after, bool higherIsBetter) {
  PointVerdict verdict;
  verdict.ratio = unpairedRatio(getValues(before), getValues(after));
  verdict.text = whyNot(before, after, verdict.ratio);
  if (verdict.text.empty())
    judgeRatio(verdict, higherIsBetter);
  verdict.text += backingChange(before, after);
  return verdict;
}

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
static Table makeTable(const ExperimentResult &before,
                       ArrayRef<ComparedPoint> points, bool isShort) {
  Table table({"point", "size|before", "size|after", "size|ratio [95 %]", ""});
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
  Table table = makeTable(before, points, /*isShort=*/false);
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
  std::string text = countWord(counts.compared, "point") + " compared: ";
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
  writeFilled(out, "", text);
}

unsigned mpg::writeComparison(raw_ostream &out, const BenchRun &before,
                              const BenchRun &after) {
  out << "before: " << printable(before.date) << ", " << describeRounds(before)
      << " rounds\nafter:  " << printable(after.date) << ", "
      << describeRounds(after) << " rounds\n";
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
