// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads schema mpgbench-1 again. Keys that are not known are passed over, so
// that files of later versions can be read; those that are needed must be
// there. Medians and intervals are made anew from the samples: a file cannot
// say anything that its samples do not.

#include "Support/Format.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <set>
#include <string>

using namespace llvm;
using namespace mpg;

namespace {

/// One object that came from a file or from another process, and its place. All
/// of one file share one error text: the first thing that is wrong, such as
/// "experiments[0].points[3].samples: not a list". Everything after it reads as
/// empty, so that the caller asks once, at the end.
class JsonFields {
public:
  /// \p place: "" for the whole file.
  JsonFields(const llvm::json::Value &value, std::string place,
             std::string &error);

  std::string text(llvm::StringRef key) const;
  std::string textOrNull(llvm::StringRef key) const; ///< null: ""
  bool boolean(llvm::StringRef key) const;
  uint64_t count(llvm::StringRef key) const; ///< an integer, 0 or above
  std::optional<uint64_t> countOrNull(llvm::StringRef key) const;
  double number(llvm::StringRef key) const; ///< finite
  /// Above 0, and so that logarithms, quotients and sums stay finite.
  double positive(llvm::StringRef key) const;
  bool isNull(llvm::StringRef key) const;
  JsonFields object(llvm::StringRef key) const;
  /// Each entry of a list of objects. More than \p maxEntries are an error.
  void each(llvm::StringRef key, size_t maxEntries,
            llvm::function_ref<void(const JsonFields &)> visit) const;
  /// Names and finite numbers of an object.
  void
  eachNumber(llvm::StringRef key, size_t maxEntries,
             llvm::function_ref<void(llvm::StringRef, double)> visit) const;

  /// Something else that is wrong with \p key.
  void fail(llvm::StringRef key, const llvm::Twine &what) const;

private:
  const llvm::json::Value *get(llvm::StringRef key) const;

  const llvm::json::Object *fields; ///< null: it is none, or an error before it
  std::string place;
  std::string &error;
};

} // namespace

/// Brackets that may lie in each other; results need eight.
static constexpr unsigned maxDepth = 32;
/// Of a name, a reason, a sentence.
static constexpr size_t maxTextBytes = 16384;

/// Brackets in texts count too, if they do not close: no text of ours has 32.
static bool isDeep(StringRef text) {
  unsigned depth = 0;
  bool isText = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isText) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        isText = false;
      continue;
    }
    if (c == '"')
      isText = true;
    else if (c == '{' || c == '[') {
      if (++depth > maxDepth)
        return true;
    } else if ((c == '}' || c == ']') && depth)
      --depth;
  }
  return false;
}

/// \p text as JSON. Refused before it is parsed: more than \p maxBytes, and
/// brackets in brackets beyond what any file of ours has, because LLVM's parser
/// calls itself for each.
static Expected<json::Value> parseJson(StringRef text, size_t maxBytes) {
  if (text.size() > maxBytes)
    return createStringError(inconvertibleErrorCode(),
                             "more than %zu bytes: this is no file of results",
                             maxBytes);
  if (isDeep(text))
    return createStringError(inconvertibleErrorCode(),
                             "brackets in brackets: these are no results");
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return createStringError(inconvertibleErrorCode(),
                             "not JSON: " + toString(value.takeError()));
  return value;
}

JsonFields::JsonFields(const json::Value &value, std::string place,
                       std::string &error)
    : fields(value.getAsObject()), place(std::move(place)), error(error) {
  if (!fields && error.empty())
    error = (this->place.empty() ? "" : this->place + ": ") + "not an object";
}

void JsonFields::fail(StringRef key, const Twine &what) const {
  if (error.empty())
    error = ((place.empty() ? "" : place + ".") + key + ": " + what).str();
}

/// Null after an error.
const json::Value *JsonFields::get(StringRef key) const {
  if (!error.empty() || !fields)
    return nullptr;
  const json::Value *value = fields->get(key);
  if (!value)
    fail(key, "missing");
  return value;
}

std::string JsonFields::text(StringRef key) const {
  const json::Value *value = get(key);
  if (!value)
    return {};
  std::optional<StringRef> text = value->getAsString();
  if (!text)
    fail(key, "not a text");
  else if (text->size() > maxTextBytes)
    fail(key, "a text of more than " + Twine(maxTextBytes) + " bytes");
  else
    return text->str();
  return {};
}

bool JsonFields::isNull(StringRef key) const {
  const json::Value *value = get(key);
  return value && value->kind() == json::Value::Null;
}

std::string JsonFields::textOrNull(StringRef key) const {
  return isNull(key) ? std::string() : text(key);
}

bool JsonFields::boolean(StringRef key) const {
  const json::Value *value = get(key);
  if (value && !value->getAsBoolean())
    fail(key, "neither true nor false");
  return value && value->getAsBoolean().value_or(false);
}

uint64_t JsonFields::count(StringRef key) const {
  const json::Value *value = get(key);
  if (value && !value->getAsUINT64())
    fail(key, "not an integer of 0 or above");
  return value ? value->getAsUINT64().value_or(0) : 0;
}

std::optional<uint64_t> JsonFields::countOrNull(StringRef key) const {
  if (isNull(key))
    return std::nullopt;
  return count(key);
}

double JsonFields::number(StringRef key) const {
  const json::Value *value = get(key);
  std::optional<double> number =
      value ? value->getAsNumber() : std::optional<double>();
  if (value && (!number || !std::isfinite(*number)))
    fail(key, "not a number");
  return error.empty() ? number.value_or(0) : 0;
}

double JsonFields::positive(StringRef key) const {
  double value = number(key);
  if (!error.empty())
    return 1;
  if (value <= 0)
    fail(key, "must be above 0");
  else if (value < 1e-30 || value > 1e30)
    fail(key, "not the size of anything that is measured");
  return error.empty() ? value : 1;
}

JsonFields JsonFields::object(StringRef key) const {
  static const json::Value none = nullptr;
  const json::Value *value = get(key);
  return JsonFields(value ? *value : none,
                    ((place.empty() ? "" : place + ".") + key).str(), error);
}

void JsonFields::each(StringRef key, size_t maxEntries,
                      function_ref<void(const JsonFields &)> visit) const {
  const json::Value *value = get(key);
  if (!value)
    return;
  const json::Array *list = value->getAsArray();
  if (!list)
    return fail(key, "not a list");
  if (list->size() > maxEntries)
    return fail(key, "more than " + Twine(maxEntries) + " entries");
  std::string prefix = ((place.empty() ? "" : place + ".") + key + "[").str();
  for (size_t i = 0; i < list->size() && error.empty(); ++i) {
    JsonFields entry((*list)[i], prefix + std::to_string(i) + "]", error);
    if (error.empty())
      visit(entry);
  }
}

void JsonFields::eachNumber(StringRef key, size_t maxEntries,
                            function_ref<void(StringRef, double)> visit) const {
  JsonFields numbers = object(key);
  if (!error.empty())
    return;
  if (numbers.fields->size() > maxEntries)
    return fail(key, "more than " + Twine(maxEntries) + " entries");
  for (const auto &field : *numbers.fields) {
    StringRef name = field.first;
    double value = numbers.number(name);
    if (!error.empty())
      return;
    visit(name, value);
  }
}

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

/// What a worker's line and a sample in the file have in common, but for the
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

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

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
  std::string kind = fields.text("kind");
  if (kind == "yes")
    return Conclusion::Kind::yes;
  if (kind == "no")
    return Conclusion::Kind::no;
  if (kind == "not-measured")
    return Conclusion::Kind::notMeasured;
  if (kind != "undecided")
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

/// Without the ratios behind them: --compare makes its own.
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
