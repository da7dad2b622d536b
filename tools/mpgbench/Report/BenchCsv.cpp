// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results as CSV, for spreadsheets and scripts: one row a sample, and one for
// each point without any. The columns are the same for all experiments of a
// file, so that parameters and further figures, whose names differ, are joined
// in one column each: "pages=2M;threads=1". Quoted as RFC 4180 says; lines end
// as Unix ends them.

#include "Support/Table.h"
#include "mpgbench/Report/BenchReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstdlib>

using namespace llvm;
using namespace mpg;

/// The shortest of two forms that reads as the same number again.
static std::string numberText(double value) {
  std::string text;
  for (int digits : {15, 17}) {
    text = formatv("{0}", format("%.*g", digits, value));
    if (strtod(text.c_str(), nullptr) == value)
      break;
  }
  return text;
}

static std::string joined(const Parameters &parameters) {
  std::string text;
  for (const auto &[name, value] : parameters)
    text += (text.empty() ? "" : ";") + name + "=" + value;
  return text;
}

static std::string joined(const std::map<std::string, double> &figures) {
  std::string text;
  for (const auto &[name, value] : figures)
    text += (text.empty() ? "" : ";") + name + "=" + numberText(value);
  return text;
}

/// Of all samples, in the order in which they first appear.
static std::vector<std::string> counterNames(const BenchRun &run) {
  std::vector<std::string> names;
  for (const ExperimentResult &experiment : run.experiments)
    for (const PointResult &point : experiment.points)
      for (const WorkerResult &sample : point.samples)
        for (const CounterValue &counter : sample.counters)
          if (!is_contained(names, counter.name))
            names.push_back(counter.name);
  return names;
}

static std::string counterText(const WorkerResult &sample,
                               const std::string &name) {
  for (const CounterValue &counter : sample.counters)
    if (counter.name == name && counter.value)
      return std::to_string(*counter.value);
  return {};
}

static std::vector<std::string> sampleCells(const WorkerResult &sample,
                                            ArrayRef<std::string> counters) {
  std::vector<std::string> cells = {numberText(sample.value),
                                    std::to_string(sample.backing.normalBytes),
                                    std::to_string(sample.backing.thpBytes),
                                    std::to_string(sample.backing.hugetlbBytes),
                                    std::to_string(sample.involuntarySwitches)};
  for (const std::string &counter : counters)
    cells.push_back(counterText(sample, counter));
  cells.push_back(joined(sample.figures));
  return cells;
}

static void writePointCsv(raw_ostream &out, const ExperimentResult &experiment,
                          const PointResult &point,
                          ArrayRef<std::string> counters) {
  const std::vector<std::string> head = {
      experiment.name, point.name, joined(point.parameters), experiment.unit};
  std::string busy = point.isBusy ? "yes" : "no";
  std::vector<std::string> cells = head;
  for (size_t i = 0; i < point.samples.size(); ++i) {
    cells.push_back(std::to_string(point.rounds[i]));
    append_range(cells, sampleCells(point.samples[i], counters));
    append_values(cells, busy, "");
    writeCsvLine(out, cells, "\n");
    cells = head;
  }
  if (!point.samples.empty())
    return;
  // No round, no cells of a sample.
  cells.resize(cells.size() + 1 + sampleCells({}, counters).size());
  append_values(cells, busy, point.missing);
  writeCsvLine(out, cells, "\n");
}

void mpg::writeBenchCsv(raw_ostream &out, const BenchRun &run) {
  std::vector<std::string> counters = counterNames(run);
  std::vector<std::string> names = {"experiment",    "point",
                                    "parameters",    "unit",
                                    "round",         "value",
                                    "normal_bytes",  "thp_bytes",
                                    "hugetlb_bytes", "involuntary_switches"};
  append_range(names, counters);
  append_values(names, "figures", "busy", "missing");
  writeCsvLine(out, names, "\n");
  for (const ExperimentResult &experiment : run.experiments)
    for (const PointResult &point : experiment.points)
      writePointCsv(out, experiment, point, counters);
}
