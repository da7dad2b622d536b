// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results for spreadsheets and scripts: one row a sample, and one for each
// point without any. The columns are the same for all experiments of a file, so
// that parameters and further figures, whose names differ, are joined in one
// column each: "pages=2M;threads=1". Quoted as RFC 4180 says; lines end as Unix
// ends them.

#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;
using namespace mpg;

static std::string quoted(StringRef text) {
  if (text.find_first_of(",\"\r\n") == StringRef::npos)
    return text.str();
  std::string result = "\"";
  for (char c : text) {
    if (c == '"')
      result += '"';
    result += c;
  }
  return result + "\"";
}

/// The shortest of two forms that reads as the same number again.
static std::string numberText(double value) {
  std::string text;
  for (int digits : {15, 17}) {
    text.clear();
    raw_string_ostream out(text);
    out << format("%.*g", digits, value);
    out.flush();
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

namespace {

class CsvWriter {
public:
  CsvWriter(raw_ostream &out, const BenchRun &run)
      : out(out), run(run), counters(counterNames(run)) {}
  void write();

private:
  void writeHeader();
  /// What comes before the sample.
  void writeHead(const ExperimentResult &experiment, const PointResult &point);
  void writeSample(const PointResult &point, size_t index);
  void writeMissing(const PointResult &point);

  raw_ostream &out;
  const BenchRun &run;
  std::vector<std::string> counters;
};

} // namespace

void CsvWriter::writeHeader() {
  out << "experiment,point,parameters,unit,round,value,normal_bytes,thp_bytes,"
         "hugetlb_bytes,involuntary_switches";
  for (const std::string &counter : counters)
    out << ',' << quoted(counter);
  out << ",figures,busy,missing\n";
}

void CsvWriter::writeHead(const ExperimentResult &experiment,
                          const PointResult &point) {
  out << quoted(experiment.name) << ',' << quoted(point.name) << ','
      << quoted(joined(point.parameters)) << ',' << quoted(experiment.unit)
      << ',';
}

void CsvWriter::writeSample(const PointResult &point, size_t index) {
  const WorkerResult &sample = point.samples[index];
  out << point.rounds[index] << ',' << numberText(sample.value) << ','
      << sample.backing.normalBytes << ',' << sample.backing.thpBytes << ','
      << sample.backing.hugetlbBytes << ',' << sample.involuntarySwitches;
  for (const std::string &counter : counters)
    out << ',' << counterText(sample, counter);
  out << ',' << quoted(joined(sample.figures)) << ','
      << (point.isBusy ? "yes" : "no") << ",\n";
}

void CsvWriter::writeMissing(const PointResult &point) {
  out << ",,,,,"; // round to involuntary_switches
  for (size_t i = 0; i < counters.size(); ++i)
    out << ',';
  out << ",," << (point.isBusy ? "yes" : "no") << ',' << quoted(point.missing)
      << '\n';
}

void CsvWriter::write() {
  writeHeader();
  for (const ExperimentResult &experiment : run.experiments)
    for (const PointResult &point : experiment.points) {
      for (size_t i = 0; i < point.samples.size(); ++i) {
        writeHead(experiment, point);
        writeSample(point, i);
      }
      if (point.samples.empty()) {
        writeHead(experiment, point);
        writeMissing(point);
      }
    }
}

void mpg::writeBenchCsv(raw_ostream &out, const BenchRun &run) {
  CsvWriter(out, run).write();
}
