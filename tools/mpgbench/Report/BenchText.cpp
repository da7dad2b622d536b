// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results for people at a terminal. For each experiment: what was counted, one
// row a point, what could not be measured and why, the guide's figures (which
// are another machine's), and what it comes to; the machine and its load at the
// end. Whatever all points of an experiment share stands above the table once.

#include "Support/Format.h"
#include "mpgbench/Report/BenchReport.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace llvm;
using namespace mpg;

/// Tables do not become wider for the sake of further figures.
static constexpr size_t pointTableColumns = 100;

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

/// Nothing but what they share if no point has samples.
static void writePointTable(raw_ostream &out, const BenchRun &run,
                            const ExperimentResult &result) {
  std::string shared = describeShared(result);
  if (!shared.empty())
    writeFilled(out, "  ", printable(shared), 4);
  if (all_of(result.points,
             [](const PointResult &point) { return point.samples.empty(); }))
    return;
  std::vector<std::string> figures, left;
  for (const std::string &name : figureNames(result)) {
    figures.push_back(name);
    if (makePointTable(run, result, figures).width() + 2 <= pointTableColumns)
      continue;
    figures.pop_back();
    left.push_back(name);
  }
  out << "\n";
  makePointTable(run, result, figures).write(out, 2);
  if (!left.empty())
    writeFilled(
        out, "  ",
        "in the files of --json and --csv: " + printable(join(left, ", ")), 4);
}

// One experiment

/// Not filled: reasons end with commands that are to be copied.
static void writeUnmeasured(raw_ostream &out, const ExperimentResult &result) {
  for (const std::string &line : describeUnmeasured(result))
    out << "  not measured: " << printable(line) << "\n";
}

static void writeGuide(raw_ostream &out, const ExperimentResult &result) {
  if (result.guide.empty())
    return;
  out << "\n  the guide's figures, of another machine:\n";
  makeGuideTable(result).write(out, 4);
}

static void writeConclusions(raw_ostream &out, const ExperimentResult &result) {
  constexpr unsigned labelColumns = 14;
  if (!result.conclusions.empty())
    out << "\n";
  for (const Conclusion &conclusion : result.conclusions)
    writeFact(out, kindWord(conclusion.kind).str() + ":", labelColumns,
              printable(conclusion.text));
}

static void writeExperiment(raw_ostream &out, const BenchRun &run,
                            const ExperimentResult &result) {
  out << printable(result.name) << ": " << printable(result.title) << "\n";
  if (!result.accounting.empty())
    writeFilled(out, "  ", "counted: " + printable(result.accounting), 4);
  writePointTable(out, run, result);
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
    writeExperiment(out, run, experiment);
  writeMachine(out, run);
}
