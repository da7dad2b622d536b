// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results for programs: schema mpgbench-1, in
// docs/schema/mpgbench-1.schema.json, with every sample; and the one line that
// a worker process prints. Names and values whose order matters are lists of
// pairs: objects of JSON have no order. Also writes CSV. Leaves out names in
// results that are passed on.

#include "Support/JsonItem.h"
#include "Support/Table.h"
#include "mpgbench/Report/BenchReport.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>
#include <gnu/libc-version.h>
#include <pwd.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static JsonItem intervalItem(const std::optional<Interval> &interval) {
  if (!interval)
    return nullptr;
  return JsonArray{interval->low, interval->high};
}

static JsonArray parametersItem(const Parameters &parameters) {
  return jsonList(parameters, [](auto &pair) {
    return JsonObject{{"name", pair.first}, {"value", pair.second}};
  });
}

static JsonObject counterItem(const CounterValue &counter) {
  return {{"name", counter.name},
          {"value", counter.value},
          {"missing", textOrNull(counter.missing)}};
}

/// A worker's line, or a sample in the file: \p first comes first.
static JsonObject sampleItem(JsonField first, const WorkerResult &sample) {
  JsonObject figures;
  for (const auto &[name, value] : sample.figures)
    if (std::isfinite(value))
      figures.push_back({name, value});
  const Backing &backing = sample.backing;
  return {std::move(first),
          {"value", sample.value},
          {"backing", JsonObject{{"hugetlb_bytes", backing.hugetlbBytes},
                                 {"thp_bytes", backing.thpBytes},
                                 {"normal_bytes", backing.normalBytes}}},
          {"involuntary_switches", sample.involuntarySwitches},
          {"counters", jsonList(sample.counters, counterItem)},
          {"figures", figures}};
}

void mpg::writeWorkerResult(raw_ostream &out, const WorkerResult &result) {
  writeJson(out, sampleItem({"error", textOrNull(result.error)}, result));
  out << "\n";
}

// The file

static JsonObject pointItem(const PointResult &point) {
  const Summary &summary = point.summary;
  JsonArray samples;
  for (size_t i = 0; i < point.samples.size(); ++i)
    samples.push_back(sampleItem({"round", point.rounds[i]}, point.samples[i]));
  return {{"name", point.name},
          {"parameters", parametersItem(point.parameters)},
          {"missing", textOrNull(point.missing)},
          {"busy", point.isBusy},
          {"summary", JsonObject{{"count", summary.count},
                                 {"median", summary.median},
                                 {"min", summary.min},
                                 {"max", summary.max},
                                 {"interval", intervalItem(summary.interval)}}},
          {"samples", std::move(samples)}};
}

static JsonObject guideItem(const GuideFigure &figure) {
  return {{"label", figure.label},
          {"value", figure.value},
          {"source", figure.source},
          {"at", textOrNull(figure.at)}};
}

static JsonObject conclusionItem(const Conclusion &conclusion) {
  // One word, as names in JSON are.
  bool isMeasured = conclusion.kind != Conclusion::Kind::notMeasured;
  return {{"kind", isMeasured ? kindWord(conclusion.kind) : "not-measured"},
          {"text", conclusion.text},
          {"ratio", conclusion.ratio.value},
          {"interval", intervalItem(conclusion.ratio.interval)}};
}

static JsonObject experimentItem(const ExperimentResult &experiment) {
  return {{"name", experiment.name},
          {"title", experiment.title},
          {"unit", experiment.unit},
          {"higher_is_better", experiment.higherIsBetter},
          {"accounting", experiment.accounting},
          {"x_parameter", experiment.xParameter},
          {"series_parameter", experiment.seriesParameter},
          {"x_is_number", experiment.xIsNumber},
          {"points", jsonList(experiment.points, pointItem)},
          {"guide", jsonList(experiment.guide, guideItem)},
          {"conclusions", jsonList(experiment.conclusions, conclusionItem)}};
}

static JsonObject loadItem(const LoadBetween &load) {
  return {{"seconds", load.seconds},
          {"others_cpus", load.othersCpus},
          {"steal_cpus", load.stealCpus},
          {"load_average", load.loadAverage},
          {"busy", load.isBusy()}};
}

void mpg::writeBenchJson(raw_ostream &out, const BenchRun &run) {
  writeJson(
      out,
      JsonObject{{"schema", "mpgbench-1"},
                 {"version", run.version},
                 {"date", run.date},
                 {"quick", run.quick},
                 {"repetitions", run.repetitions},
                 {"seed", run.seed},
                 {"machine", parametersItem(run.machine)},
                 {"load", loadItem(run.load)},
                 {"experiments", jsonList(run.experiments, experimentItem)}},
      /*indent=*/1);
  out << "\n";
}

// For spreadsheets. CSV, for scripts too: one row a sample, and one for each
// point without any. The columns are the same for all experiments of a file, so
// that parameters and further figures, whose names differ, are joined in one
// column each: "pages=2M;threads=1". Quoted as RFC 4180 says; lines end as Unix
// ends them.

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

// Texts of a run come from the system as well (reasons
// with file names, the release of a kernel that was built at a site), so words
// are taken out of all of them rather than of those that are known to have
// some.

/// Of a name: what stands on both sides of it must be none.
static bool isNamePart(char c) { return isAlnum(c) || c == '_'; }

std::vector<std::string> mpg::namesOfThisPlace() {
  std::vector<std::string> names;
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) == 0) {
    names.push_back(host);
    names.push_back(StringRef(host).split('.').first.str());
  }
  if (const passwd *user = getpwuid(getuid()))
    names.push_back(user->pw_name);
  for (const char *variable : {"USER", "LOGNAME", "SUDO_USER", "HOSTNAME"})
    if (const char *value = getenv(variable))
      names.push_back(value);
  return names;
}

/// Length of the absolute path at the start of \p text; 0 if there is none. "GB
/// / s" has none, and "triad/pages=2M" does not begin with one.
static size_t pathLength(StringRef text) {
  if (text.size() < 2 || text[0] != '/' || !isNamePart(text[1]))
    return 0;
  return std::min(text.find_first_of(" \t\n'\"()<>,;:"), text.size());
}

static std::string withoutName(StringRef text, StringRef name) {
  // The administrator's is in sentences of the program, and no name.
  if (name.size() < 2 || name == "root")
    return text.str();
  std::string result;
  size_t done = 0;
  for (size_t at; (at = text.find(name, done)) != StringRef::npos;) {
    size_t end = at + name.size();
    bool isWord = (at == 0 || !isNamePart(text[at - 1])) &&
                  (end == text.size() || !isNamePart(text[end]));
    result += text.slice(done, at);
    result += isWord ? "(name)" : name;
    done = end;
  }
  result += text.drop_front(done);
  return result;
}

std::string mpg::anonymised(StringRef text,
                            const std::vector<std::string> &names) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    // Names of points have one before each parameter: "reads=100%/bytes=1M".
    bool isStart =
        at == 0 || StringRef(" \t\n'\"(<[=:,.").contains(text[at - 1]);
    size_t length = isStart ? pathLength(text.drop_front(at)) : 0;
    if (length)
      result += "(path)";
    else
      result += text[at];
    at += length ? length : 1;
  }
  for (const std::string &name : names)
    result = withoutName(result, name);
  return result;
}

static void anonymise(PointResult &point,
                      function_ref<void(std::string &)> clean) {
  clean(point.missing);
  for (WorkerResult &sample : point.samples) {
    // The reason for a missing value appears once: the file is to be mailed.
    if (&sample != &point.samples.front())
      erase_if(sample.counters,
               [](const CounterValue &counter) { return !counter.value; });
    for (CounterValue &counter : sample.counters)
      clean(counter.missing);
  }
}

void mpg::anonymise(BenchRun &run, const std::vector<std::string> &names) {
  auto clean = [&](std::string &text) { text = anonymised(text, names); };
  run.date = run.date.substr(0, run.date.find('T'));
  for (auto &[name, value] : run.machine)
    clean(value);
  run.machine.push_back(
      {"C library", std::string("glibc ") + gnu_get_libc_version()});
  run.machine.push_back({"compiler", __VERSION__});
  for (ExperimentResult &experiment : run.experiments) {
    for (Conclusion &conclusion : experiment.conclusions)
      clean(conclusion.text);
    for (PointResult &point : experiment.points)
      ::anonymise(point, clean);
  }
}
