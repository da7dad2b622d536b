// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results for people at a terminal. For each experiment: what was counted, one
// row a point, what could not be measured and why, the guide's figures (which
// are another machine's), and what it comes to; the machine and its load at the
// end. Whatever all points of an experiment share stands above the table once.

#include "Support/Format.h"
#include "mpgbench/Report/PointLabels.h"
#include "mpgbench/Report/PointTable.h"
#include "mpgbench/Report/TextTable.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

//===----------------------------------------------------------------------===//
// One experiment
//===----------------------------------------------------------------------===//

/// Points without samples, one line for each reason.
static void writeUnmeasured(raw_ostream &out, const ExperimentResult &result) {
  std::vector<std::string> reasons;
  for (const PointResult &point : result.points)
    if (point.samples.empty() && !is_contained(reasons, point.missing))
      reasons.push_back(point.missing);
  for (const std::string &reason : reasons) {
    std::vector<const PointResult *> points;
    for (const PointResult &point : result.points)
      if (point.samples.empty() && point.missing == reason)
        points.push_back(&point);
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
  TextTable table;
  table.addColumn("", /*isNumber=*/false);
  table.addColumn("", /*isNumber=*/true);
  table.addColumn("", /*isNumber=*/false);
  std::string text;
  raw_string_ostream lines(text);
  for (const GuideFigure &figure : result.guide)
    table.addRow(
        {figure.label,
         formatv("{0} {1}", formatWholeOrFigure(figure.value), result.unit),
         "(" + figure.source + ")"});
  table.write(lines, 4);
  // A table without a header.
  out << StringRef(text).split('\n').second;
}

static void writeConclusions(raw_ostream &out, const ExperimentResult &result) {
  constexpr unsigned labelColumns = 14;
  if (!result.conclusions.empty())
    out << "\n";
  for (const Conclusion &conclusion : result.conclusions)
    out << "  "
        << left_justify(kindWord(conclusion.kind).str() + ":", labelColumns)
        << fillText(printable(conclusion.text), 2 + labelColumns) << "\n";
}

static void writeExperiment(raw_ostream &out, const ExperimentResult &result,
                            unsigned repetitions) {
  out << printable(result.name) << ": " << printable(result.title) << "\n";
  if (!result.accounting.empty())
    out << "  " << fillText("counted: " + printable(result.accounting), 4)
        << "\n";
  writePointTable(out, result, repetitions);
  writeUnmeasured(out, result);
  writeGuide(out, result);
  writeConclusions(out, result);
  out << "\n";
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

static void writeRow(raw_ostream &out, StringRef label, StringRef text) {
  constexpr unsigned labelColumns = 24;
  out << "  " << left_justify(label, labelColumns)
      << fillText(printable(text), 2 + labelColumns) << "\n";
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
  size_t points = 0, busy = 0;
  for (const ExperimentResult &experiment : run.experiments)
    for (const PointResult &point : experiment.points) {
      points += !point.samples.empty();
      busy += point.isBusy;
    }
  if (busy)
    out << "\n"
        << fillText(formatv("The machine was busy during {0} of {1} points: "
                            "they are marked, and nothing is concluded from "
                            "them. Measure again when it is quiet.",
                            busy, points)
                        .str(),
                    0)
        << "\n";
}

void mpg::writeBenchText(raw_ostream &out, const BenchRun &run) {
  out << "mpgbench " << printable(run.version) << ", " << printable(run.date)
      << ", " << run.repetitions << " rounds in random order (seed " << run.seed
      << ")" << (run.quick ? ", quick: small arrays" : "") << "\n\n";
  for (const ExperimentResult &experiment : run.experiments)
    writeExperiment(out, experiment, run.repetitions);
  writeMachine(out, run);
}
