// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results for people at a terminal. For each experiment: what was counted, one
// row a point, what could not be measured and why, the guide's figures (which
// are another machine's), and what it comes to; the machine and its load at the
// end. Whatever all points of an experiment share stands above the table once.

#include "Support/Format.h"
#include "Support/Table.h"
#include "mpgbench/Report/BenchReport.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <set>

using namespace llvm;
using namespace mpg;

namespace {

/// Tables do not become wider for the sake of further figures.
constexpr size_t pointTableColumns = 100;

} // namespace

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

/// Counters that the table shows if there is one: the reason for large pages.
static bool isTlbCounter(StringRef name) {
  name.consume_back(":u");
  return name == "dtlb-load-misses" || name == "l2d-tlb-refills" ||
         name == "dtlb_load_misses.walk_active" ||
         name == "ls_l1_d_tlb_miss.all_l2_miss";
}

static std::vector<std::string> figureNames(const ExperimentResult &result) {
  std::set<std::string> figures, counters;
  for (const PointResult &point : result.points)
    for (const WorkerResult &sample : point.samples) {
      for (const auto &figure : sample.figures)
        figures.insert(figure.first);
      for (const CounterValue &counter : sample.counters)
        if (counter.value && isTlbCounter(counter.name))
          counters.insert(counter.name);
    }
  std::vector<std::string> names(figures.begin(), figures.end());
  names.insert(names.end(), counters.begin(), counters.end());
  return names;
}

/// A whole number is shown as one.
static std::string formatWholeOrFigure(double value) {
  bool isWhole = std::abs(value) < 1e15 && value == double(int64_t(value));
  return isWhole ? std::to_string(int64_t(value)) : formatFigure(value);
}

namespace {

/// The table of one experiment with \p figures beside the times.
struct PointTable {
  const ExperimentResult &result;
  unsigned repetitions;
  std::vector<std::string> parameters, figures;

  Table make() const;

private:
  std::vector<std::string> row(const PointResult &point) const;
};

} // namespace

std::vector<std::string> PointTable::row(const PointResult &point) const {
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
  cells.push_back(describeNotes(point, repetitions));
  return cells;
}

Table PointTable::make() const {
  Table table;
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
      table.addRow(row(point));
  return table;
}

/// Nothing but what they share if no point has samples.
static void writePointTable(raw_ostream &out, const ExperimentResult &result,
                            unsigned repetitions) {
  PointTable table = {result, repetitions, {}, {}};
  std::string shared;
  for (const auto &[name, value] : sharedParameters(result))
    shared += (shared.empty() ? "" : ", ") + name + "=" + value;
  for (const std::string &name : parameterNames(result))
    if (parameter(sharedParameters(result), name).empty())
      table.parameters.push_back(name);
  if (!shared.empty())
    writeFilled(out, "  ", "all with " + printable(shared), 4);
  if (all_of(result.points,
             [](const PointResult &point) { return point.samples.empty(); }))
    return;
  std::string left;
  for (const std::string &name : figureNames(result)) {
    table.figures.push_back(name);
    if (table.make().width() + 2 <= pointTableColumns)
      continue;
    table.figures.pop_back();
    left += (left.empty() ? "" : ", ") + name;
  }
  out << "\n";
  table.make().write(out, 2);
  if (!left.empty())
    writeFilled(out, "  ",
                "in the files of --json and --csv: " + printable(left), 4);
}

// One experiment

/// Points without samples, one line for each reason.
static void writeUnmeasured(raw_ostream &out, const ExperimentResult &result) {
  for (const auto &[reason, points] : collectUnmeasured(result)) {
    std::string label = "not measured: " + pointsLabel(result, points) + ":";
    // Not filled: reasons end with commands that are to be copied.
    bool isLong = label.size() + reason.size() > pointTableColumns - 3;
    out << "  " << printable(label) << (isLong ? "\n    " : " ")
        << (reason.empty() ? "no rounds" : printable(reason)) << "\n";
  }
}

static void writeGuide(raw_ostream &out, const ExperimentResult &result) {
  if (result.guide.empty())
    return;
  out << "\n  the guide's figures, of another machine:\n";
  Table table({"", "size|", ""});
  for (const GuideFigure &figure : result.guide)
    table.addRow(
        {figure.label,
         formatv("{0} {1}", formatWholeOrFigure(figure.value), result.unit),
         "(" + figure.source + ")"});
  table.write(out, 4);
}

static void writeConclusions(raw_ostream &out, const ExperimentResult &result) {
  constexpr unsigned labelColumns = 14;
  if (!result.conclusions.empty())
    out << "\n";
  for (const Conclusion &conclusion : result.conclusions)
    writeFact(out, kindWord(conclusion.kind).str() + ":", labelColumns,
              printable(conclusion.text));
}

static void writeExperiment(raw_ostream &out, const ExperimentResult &result,
                            unsigned repetitions) {
  out << printable(result.name) << ": " << printable(result.title) << "\n";
  if (!result.accounting.empty())
    writeFilled(out, "  ", "counted: " + printable(result.accounting), 4);
  writePointTable(out, result, repetitions);
  writeUnmeasured(out, result);
  writeGuide(out, result);
  writeConclusions(out, result);
  out << "\n";
}

// The run

static void writeRow(raw_ostream &out, StringRef label, StringRef text) {
  constexpr unsigned labelColumns = 24;
  writeFact(out, label, labelColumns, printable(text));
}

/// Of the first sample: the same for all.
static std::string describeCounters(const BenchRun &run) {
  for (const ExperimentResult &experiment : run.experiments)
    for (const PointResult &point : experiment.points)
      for (const WorkerResult &sample : point.samples)
        for (const CounterValue &counter : sample.counters)
          if (StringRef(counter.name).starts_with("cycles"))
            return counter.value ? "in the files of --json and --csv"
                                 : counter.missing;
  return {};
}

static std::string describeLoad(const LoadBetween &load) {
  if (load.seconds <= 0)
    return "unknown: /proc/stat cannot be read";
  return formatv("{0} over {1:f0} s; load average {2:f2}", load.describe(),
                 load.seconds, load.loadAverage);
}

static void writeMachine(raw_ostream &out, const BenchRun &run) {
  out << "machine\n";
  for (const auto &[name, value] : run.machine)
    writeRow(out, name, value);
  std::string counters = describeCounters(run);
  if (!counters.empty())
    writeRow(out, "hardware counters", counters);
  writeRow(out, "load", describeLoad(run.load));
  PointCounts counts = countPoints(run);
  if (counts.busy)
    out << "\n"
        << fillText(formatv("The machine was busy during {0} of {1} points: "
                            "they are marked, and nothing is concluded from "
                            "them. Measure again when it is quiet.",
                            counts.busy, counts.measured)
                        .str(),
                    0)
        << "\n";
}

std::string mpg::describeRounds(const BenchRun &run) {
  size_t measured = countPoints(run).rounds;
  return (measured < run.repetitions ? std::to_string(measured) + " of " : "") +
         std::to_string(run.repetitions);
}

void mpg::writeBenchText(raw_ostream &out, const BenchRun &run) {
  out << "mpgbench " << printable(run.version) << ", " << printable(run.date)
      << ", " << describeRounds(run) << " rounds in random order (seed "
      << run.seed << ")" << (run.quick ? ", quick: small arrays" : "")
      << "\n\n";
  for (const ExperimentResult &experiment : run.experiments)
    writeExperiment(out, experiment, run.repetitions);
  writeMachine(out, run);
}
