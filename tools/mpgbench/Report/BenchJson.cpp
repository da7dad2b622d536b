// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results for programs: schema mpgbench-1, which stands in
// docs/schema/mpgbench-1.schema.json, with every sample; and the one line that
// a worker process prints. Names and values whose order matters are lists of
// pairs: objects of JSON have no order. And as CSV.

#include "Support/Format.h"
#include "mpgbench/Report/BenchTables.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>

using namespace llvm;
using namespace mpg;

/// JSON has no word for what is not finite. Added is a 0 because -0 would be
/// read as an integer, without its sign.
static json::Value number(double value) {
  return std::isfinite(value) ? json::Value(value + 0.0) : json::Value(nullptr);
}

static json::Value textOrNull(StringRef text) {
  return text.empty() ? json::Value(nullptr) : json::Value(validUtf8(text));
}

static json::Value interval(const std::optional<Interval> &interval) {
  if (!interval)
    return nullptr;
  return json::Array{number(interval->low), number(interval->high)};
}

static void writeParameters(json::OStream &json, StringRef key,
                            const Parameters &parameters) {
  json.attributeArray(key, [&] {
    for (const auto &[name, value] : parameters)
      json.object([&, &name = name, &value = value] {
        json.attribute("name", validUtf8(name));
        json.attribute("value", validUtf8(value));
      });
  });
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

static void writeBacking(json::OStream &json, const Backing &backing) {
  json.attributeObject("backing", [&] {
    json.attribute("hugetlb_bytes", backing.hugetlbBytes);
    json.attribute("thp_bytes", backing.thpBytes);
    json.attribute("normal_bytes", backing.normalBytes);
  });
}

static void writeCounters(json::OStream &json,
                          const std::vector<CounterValue> &counters) {
  json.attributeArray("counters", [&] {
    for (const CounterValue &counter : counters)
      json.object([&] {
        json.attribute("name", validUtf8(counter.name));
        json.attribute("value", counter.value ? json::Value(*counter.value)
                                              : json::Value(nullptr));
        json.attribute("missing", textOrNull(counter.missing));
      });
  });
}

/// What a worker's line and a sample in the file have in common.
static void writeSample(json::OStream &json, const WorkerResult &sample) {
  json.attribute("value", number(sample.value));
  writeBacking(json, sample.backing);
  json.attribute("involuntary_switches", sample.involuntarySwitches);
  writeCounters(json, sample.counters);
  json.attributeObject("figures", [&] {
    for (const auto &[name, value] : sample.figures)
      if (std::isfinite(value))
        json.attribute(validUtf8(name), number(value));
  });
}

void mpg::writeWorkerResult(raw_ostream &out, const WorkerResult &result) {
  json::OStream json(out);
  json.object([&] {
    json.attribute("error", textOrNull(result.error));
    writeSample(json, result);
  });
  out << "\n";
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static void writePoint(json::OStream &json, const PointResult &point) {
  json.attribute("name", validUtf8(point.name));
  writeParameters(json, "parameters", point.parameters);
  json.attribute("missing", textOrNull(point.missing));
  json.attribute("busy", point.isBusy);
  json.attributeObject("summary", [&] {
    json.attribute("count", uint64_t(point.summary.count));
    json.attribute("median", number(point.summary.median));
    json.attribute("min", number(point.summary.min));
    json.attribute("max", number(point.summary.max));
    json.attribute("interval", interval(point.summary.interval));
  });
  json.attributeArray("samples", [&] {
    for (size_t i = 0; i < point.samples.size(); ++i)
      json.object([&] {
        json.attribute("round", uint64_t(point.rounds[i]));
        writeSample(json, point.samples[i]);
      });
  });
}

static void writeGuide(json::OStream &json,
                       const std::vector<GuideFigure> &guide) {
  json.attributeArray("guide", [&] {
    for (const GuideFigure &figure : guide)
      json.object([&] {
        json.attribute("label", validUtf8(figure.label));
        json.attribute("value", number(figure.value));
        json.attribute("source", validUtf8(figure.source));
        json.attribute("at", textOrNull(figure.at));
      });
  });
}

/// One word, as names in JSON are.
static StringRef kindName(Conclusion::Kind kind) {
  return kind == Conclusion::Kind::notMeasured ? "not-measured"
                                               : kindWord(kind);
}

static void writeConclusions(json::OStream &json,
                             const std::vector<Conclusion> &conclusions) {
  json.attributeArray("conclusions", [&] {
    for (const Conclusion &conclusion : conclusions)
      json.object([&] {
        json.attribute("kind", kindName(conclusion.kind));
        json.attribute("text", validUtf8(conclusion.text));
        json.attribute("ratio", number(conclusion.ratio.value));
        json.attribute("interval", interval(conclusion.ratio.interval));
      });
  });
}

static void writeExperiment(json::OStream &json,
                            const ExperimentResult &experiment) {
  json.attribute("name", validUtf8(experiment.name));
  json.attribute("title", validUtf8(experiment.title));
  json.attribute("unit", validUtf8(experiment.unit));
  json.attribute("higher_is_better", experiment.higherIsBetter);
  json.attribute("accounting", validUtf8(experiment.accounting));
  json.attribute("x_parameter", validUtf8(experiment.xParameter));
  json.attribute("series_parameter", validUtf8(experiment.seriesParameter));
  json.attribute("x_is_number", experiment.xIsNumber);
  json.attributeArray("points", [&] {
    for (const PointResult &point : experiment.points)
      json.object([&] { writePoint(json, point); });
  });
  writeGuide(json, experiment.guide);
  writeConclusions(json, experiment.conclusions);
}

static void writeLoad(json::OStream &json, const LoadBetween &load) {
  json.attributeObject("load", [&] {
    json.attribute("seconds", number(load.seconds));
    json.attribute("others_cpus", number(load.othersCpus));
    json.attribute("steal_cpus", number(load.stealCpus));
    json.attribute("load_average", number(load.loadAverage));
    json.attribute("busy", load.isBusy());
  });
}

void mpg::writeBenchJson(raw_ostream &out, const BenchRun &run) {
  json::OStream json(out, 1);
  json.object([&] {
    json.attribute("schema", "mpgbench-1");
    json.attribute("version", validUtf8(run.version));
    json.attribute("date", validUtf8(run.date));
    json.attribute("quick", run.quick);
    json.attribute("repetitions", uint64_t(run.repetitions));
    json.attribute("seed", run.seed);
    writeParameters(json, "machine", run.machine);
    writeLoad(json, run.load);
    json.attributeArray("experiments", [&] {
      for (const ExperimentResult &experiment : run.experiments)
        json.object([&] { writeExperiment(json, experiment); });
    });
  });
  out << "\n";
}

//===----------------------------------------------------------------------===//
// For spreadsheets
//===----------------------------------------------------------------------===//
//
// CSV, for scripts too: one row a sample, and one for each
// point without any. The columns are the same for all experiments of a file, so
// that parameters and further figures, whose names differ, are joined in one
// column each: "pages=2M;threads=1". Quoted as RFC 4180 says; lines end as Unix
// ends them.

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
