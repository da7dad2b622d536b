// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads schema mpgbench-1 again. Skips unknown keys, so that files of later
// versions can be read; required keys must be there. Computes medians and
// intervals again from the samples: a file cannot claim anything that its
// samples do not show.

#include "Support/Format.h"
#include "Support/JsonFields.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"
#include <set>
#include <string>

using namespace llvm;
using namespace mpg;

/// More than any run has: a file that claims them is not one of ours.
static constexpr size_t maxFileBytes = size_t(256) << 20,
                        maxLineBytes = size_t(1) << 20, maxExperiments = 100,
                        maxPoints = 10000, maxSamples = 10000, maxNames = 200;

static Parameters readParameters(const JsonFields &fields, StringRef key) {
  Parameters parameters;
  fields.each(key, maxNames, [&](const JsonFields &entry) {
    parameters.push_back({entry.text("name"), entry.text("value")});
  });
  return parameters;
}

/// The shared part of a worker's line and a sample in the file, but for the
/// value.
static void readSample(const JsonFields &fields, WorkerResult &sample) {
  JsonFields backing = fields.object("backing");
  sample.backing.normalBytes = backing.count("normal_bytes");
  sample.backing.thpBytes = backing.count("thp_bytes");
  sample.backing.hugetlbBytes = backing.count("hugetlb_bytes");
  sample.involuntarySwitches = fields.count("involuntary_switches");
  fields.each("counters", maxNames, [&](const JsonFields &entry) {
    CounterValue counter = {entry.text("name"), entry.countOrNull("value"),
                            entry.textOrNull("missing")};
    sample.counters.push_back(std::move(counter));
  });
  fields.eachNumber("figures", maxNames, [&](StringRef name, double value) {
    sample.figures[name.str()] = value;
  });
}

Expected<WorkerResult> mpg::readWorkerResult(StringRef line) {
  Expected<json::Value> value = parseJson(line, maxLineBytes);
  if (!value)
    return value.takeError();
  std::string error;
  WorkerResult result;
  JsonFields fields(*value, "", error);
  result.error = fields.textOrNull("error");
  if (result.error.empty())
    result.value = fields.positive("value");
  readSample(fields, result);
  if (!error.empty())
    return createStringError(inconvertibleErrorCode(), error);
  return result;
}

// The file

static PointResult readPoint(const JsonFields &fields) {
  PointResult point;
  point.name = fields.text("name");
  point.parameters = readParameters(fields, "parameters");
  point.missing = fields.textOrNull("missing");
  point.isBusy = fields.boolean("busy");
  std::vector<double> values;
  fields.each("samples", maxSamples, [&](const JsonFields &entry) {
    WorkerResult sample;
    sample.value = entry.positive("value");
    readSample(entry, sample);
    uint64_t round = entry.count("round");
    if (round > UINT32_MAX)
      entry.fail("round", "too large");
    point.rounds.push_back(unsigned(round));
    values.push_back(sample.value);
    point.samples.push_back(std::move(sample));
  });
  point.summary = summarise(values);
  return point;
}

static Conclusion::Kind readKind(const JsonFields &fields) {
  static constexpr StringLiteral kinds[] = {"yes", "no", "undecided",
                                            "not-measured"};
  const auto *found = find(kinds, fields.text("kind"));
  if (found != std::end(kinds))
    return Conclusion::Kind(found - kinds);
  fields.fail("kind", "neither yes, no, undecided nor not-measured");
  return Conclusion::Kind::undecided;
}

static void readGuide(const JsonFields &fields, ExperimentResult &experiment) {
  fields.each("guide", maxNames, [&](const JsonFields &entry) {
    GuideFigure figure = {entry.text("label"), entry.number("value"),
                          entry.text("source"), entry.textOrNull("at")};
    experiment.guide.push_back(std::move(figure));
  });
}

/// Without the ratios after them: --compare makes its own.
static void readConclusions(const JsonFields &fields,
                            ExperimentResult &experiment) {
  fields.each("conclusions", maxNames, [&](const JsonFields &entry) {
    Conclusion conclusion;
    conclusion.kind = readKind(entry);
    conclusion.text = entry.text("text");
    experiment.conclusions.push_back(std::move(conclusion));
  });
}

static ExperimentResult readExperiment(const JsonFields &fields) {
  ExperimentResult experiment;
  experiment.name = fields.text("name");
  experiment.title = fields.text("title");
  experiment.unit = fields.text("unit");
  experiment.higherIsBetter = fields.boolean("higher_is_better");
  experiment.accounting = fields.text("accounting");
  experiment.xParameter = fields.text("x_parameter");
  experiment.seriesParameter = fields.text("series_parameter");
  experiment.xIsNumber = fields.boolean("x_is_number");
  std::set<std::string> names;
  fields.each("points", maxPoints, [&](const JsonFields &entry) {
    PointResult point = readPoint(entry);
    if (!names.insert(point.name).second)
      entry.fail("name", "'" + point.name + "' is there twice");
    experiment.points.push_back(std::move(point));
  });
  readGuide(fields, experiment);
  readConclusions(fields, experiment);
  return experiment;
}

static void readRun(const JsonFields &fields, BenchRun &run) {
  std::string schema = fields.text("schema");
  if (schema != "mpgbench-1")
    fields.fail("schema", "'" + schema + "' is not mpgbench-1");
  run.version = fields.text("version");
  run.date = fields.text("date");
  run.quick = fields.boolean("quick");
  uint64_t repetitions = fields.count("repetitions");
  if (repetitions > maxSamples)
    fields.fail("repetitions", "more than " + Twine(maxSamples));
  run.repetitions = unsigned(repetitions);
  run.seed = fields.count("seed");
  run.machine = readParameters(fields, "machine");
  JsonFields load = fields.object("load");
  run.load.seconds = load.number("seconds");
  run.load.othersCpus = load.number("others_cpus");
  run.load.stealCpus = load.number("steal_cpus");
  run.load.loadAverage = load.number("load_average");
  std::set<std::string> names;
  fields.each("experiments", maxExperiments, [&](const JsonFields &entry) {
    ExperimentResult experiment = readExperiment(entry);
    if (!names.insert(experiment.name).second)
      entry.fail("name", "'" + experiment.name + "' is there twice");
    run.experiments.push_back(std::move(experiment));
  });
}

Expected<BenchRun> mpg::readBenchJson(StringRef text, StringRef name) {
  auto fail = [&](const std::string &what) {
    return createStringError(inconvertibleErrorCode(),
                             Twine(name) + ": " + what);
  };
  Expected<json::Value> value = parseJson(text, maxFileBytes);
  if (!value)
    return fail(toString(value.takeError()));
  BenchRun run;
  std::string error;
  readRun(JsonFields(*value, "", error), run);
  if (!error.empty())
    return fail(error);
  return run;
}
