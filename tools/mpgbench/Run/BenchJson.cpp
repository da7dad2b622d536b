// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results for programs: schema mpgbench-1, in
// docs/schema/mpgbench-1.schema.json, with every sample; and the one line that
// a worker process prints. Names and values whose order matters are lists of
// pairs: objects of JSON have no order.
//
// Reading skips unknown keys, so that files of later versions can be read, and
// computes medians and intervals again from the samples: a file cannot claim
// anything that its samples do not show.

#include "Support/JsonMap.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <set>

using namespace llvm;
using namespace mpg;

/// More than any run has: a file that claims them is not one of ours.
static constexpr size_t maxFileBytes = size_t(256) << 20,
                        maxLineBytes = size_t(1) << 20, maxExperiments = 100,
                        maxPoints = 10000, maxSamples = 10000, maxNames = 200;

static constexpr StringLiteral schema = "mpgbench-1";

static JsonItem intervalItem(const std::optional<Interval> &interval) {
  if (!interval)
    return nullptr;
  return JsonArray{interval->low, interval->high};
}

template <typename Json, typename Pairs>
static void mapParameters(Json &json, StringRef key, Pairs &parameters) {
  json.list(key, maxNames, parameters, [](Json &json, auto &pair) {
    json.field("name", pair.first);
    json.field("value", pair.second);
  });
}

static void mapFigures(JsonWriter &json,
                       const std::map<std::string, double> &figures) {
  json.object("figures", [&](JsonWriter &json) {
    for (const auto &[name, value] : figures)
      if (std::isfinite(value))
        json.field(name, value);
  });
}
static void mapFigures(JsonReader &json,
                       std::map<std::string, double> &figures) {
  json.source().eachNumber(
      "figures", maxNames,
      [&](StringRef name, double value) { figures[name.str()] = value; });
}

/// The shared part of a worker's line and a sample in the file.
template <typename Json, typename Sample>
static void mapSample(Json &json, Sample &sample) {
  if constexpr (!Json::reads)
    json.field("value", sample.value);
  else if (sample.error.empty())
    sample.value = json.source().positive("value");
  json.object("backing", [&](Json &json) {
    json.field("hugetlb_bytes", sample.backing.hugetlbBytes);
    json.field("thp_bytes", sample.backing.thpBytes);
    json.field("normal_bytes", sample.backing.normalBytes);
  });
  json.field("involuntary_switches", sample.involuntarySwitches);
  json.list("counters", maxNames, sample.counters,
            [](Json &json, auto &counter) {
              json.field("name", counter.name);
              json.field("value", counter.value);
              json.nullable("missing", counter.missing);
            });
  mapFigures(json, sample.figures);
}

void mpg::writeWorkerResult(raw_ostream &out, const WorkerResult &result) {
  JsonWriter json;
  json.nullable("error", result.error);
  mapSample(json, result);
  writeJson(out, json.finish());
  out << "\n";
}

Expected<WorkerResult> mpg::readWorkerResult(StringRef line) {
  Expected<json::Value> value = parseJson(line, maxLineBytes);
  if (!value)
    return value.takeError();
  std::string error;
  WorkerResult result;
  JsonReader json(JsonFields(*value, "", error));
  json.nullable("error", result.error);
  mapSample(json, result);
  if (!error.empty())
    return createStringError(inconvertibleErrorCode(), error);
  return result;
}

// The file

static JsonObject summaryItem(const Summary &summary) {
  return {{"count", summary.count},
          {"median", summary.median},
          {"min", summary.min},
          {"max", summary.max},
          {"interval", intervalItem(summary.interval)}};
}

template <typename Json, typename Point>
static void mapPoint(Json &json, Point &point) {
  json.field("name", point.name);
  mapParameters(json, "parameters", point.parameters);
  json.nullable("missing", point.missing);
  json.field("busy", point.isBusy);
  json.derived("summary", [&] { return summaryItem(point.summary); });
  size_t at = 0;
  json.list("samples", maxSamples, point.samples,
            [&](Json &json, auto &sample) {
              if constexpr (Json::reads)
                point.rounds.emplace_back();
              json.field("round", point.rounds[at++]);
              mapSample(json, sample);
            });
  if constexpr (Json::reads)
    point.summary = summarise(getValues(point));
}

template <typename Json, typename Kind>
static void mapKind(Json &json, Kind &kind) {
  static constexpr StringLiteral words[] = {"yes", "no", "undecided",
                                            "not-measured"};
  if constexpr (!Json::reads) {
    json.field("kind", words[unsigned(kind)]);
  } else {
    const auto *found = find(words, json.source().text("kind"));
    if (found == std::end(words))
      json.source().fail("kind", "neither yes, no, undecided nor not-measured");
    else
      kind = Kind(found - words);
  }
}

/// Entries of a list with a name each, none of them twice.
template <typename Json, typename Entries, typename Visit>
static void mapNamed(Json &json, StringRef key, size_t max, Entries &entries,
                     Visit visit) {
  std::set<std::string> names;
  json.list(key, max, entries, [&](Json &json, auto &entry) {
    visit(json, entry);
    if constexpr (Json::reads)
      if (!names.insert(entry.name).second)
        json.source().fail("name", "'" + entry.name + "' is there twice");
  });
}

template <typename Json, typename Experiment>
static void mapExperiment(Json &json, Experiment &experiment) {
  json.field("name", experiment.name);
  json.field("title", experiment.title);
  json.field("unit", experiment.unit);
  json.field("higher_is_better", experiment.higherIsBetter);
  json.field("accounting", experiment.accounting);
  json.field("x_parameter", experiment.xParameter);
  json.field("series_parameter", experiment.seriesParameter);
  json.field("x_is_number", experiment.xIsNumber);
  mapNamed(json, "points", maxPoints, experiment.points,
           [](Json &json, auto &point) { mapPoint(json, point); });
  json.list("guide", maxNames, experiment.guide, [](Json &json, auto &figure) {
    json.field("label", figure.label);
    json.field("value", figure.value);
    json.field("source", figure.source);
    json.nullable("at", figure.at);
  });
  json.list("conclusions", maxNames, experiment.conclusions,
            [](Json &json, auto &conclusion) {
              mapKind(json, conclusion.kind);
              json.field("text", conclusion.text);
              // --compare makes its own.
              json.derived("ratio", [&] { return conclusion.ratio.value; });
              json.derived("interval", [&] {
                return intervalItem(conclusion.ratio.interval);
              });
            });
}

template <typename Json, typename Run>
static void mapRun(Json &json, Run &run) {
  json.derived("schema", [] { return schema; });
  json.field("version", run.version);
  json.field("date", run.date);
  json.field("quick", run.quick);
  json.field("repetitions", run.repetitions);
  json.field("seed", run.seed);
  mapParameters(json, "machine", run.machine);
  json.object("load", [&](Json &json) {
    json.field("seconds", run.load.seconds);
    json.field("others_cpus", run.load.othersCpus);
    json.field("steal_cpus", run.load.stealCpus);
    json.field("load_average", run.load.loadAverage);
    json.derived("busy", [&] { return run.load.isBusy(); });
  });
  mapNamed(
      json, "experiments", maxExperiments, run.experiments,
      [](Json &json, auto &experiment) { mapExperiment(json, experiment); });
}

void mpg::writeBenchJson(raw_ostream &out, const BenchRun &run) {
  JsonWriter json;
  mapRun(json, run);
  writeJson(out, json.finish(), /*indent=*/1);
  out << "\n";
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
  JsonFields fields(*value, "", error);
  if (std::string other = fields.text("schema"); other != schema)
    fields.fail("schema", "'" + other + "' is not " + schema);
  JsonReader json(fields);
  mapRun(json, run);
  if (run.repetitions > maxSamples)
    fields.fail("repetitions", "more than " + Twine(maxSamples));
  if (!error.empty())
    return fail(error);
  return run;
}
