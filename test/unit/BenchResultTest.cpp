// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files and tables of mpgbench: what is written is read again without loss,
// damaged files are refused with the place of the damage, and --compare calls
// only those differences real that are.

#include "mpgbench/Run/BenchResult.h"
#include "mpgbench/Report/BenchReport.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace llvm;
using namespace mpg;

using Writer = void (*)(raw_ostream &out, const BenchRun &run);

static std::string writeText(Writer write, const BenchRun &run) {
  std::string text;
  raw_string_ostream out(text);
  write(out, run);
  out.flush();
  return text;
}

static bool contains(const std::string &text, StringRef part) {
  return StringRef(text).contains(part);
}

/// A point whose rounds have these values.
static PointResult makePoint(const std::string &pages,
                             const std::vector<double> &values) {
  PointResult point;
  point.name = "triad/pages=" + pages + "/size=1G";
  point.parameters = {{"pages", pages}, {"size", "1G"}};
  for (double value : values) {
    WorkerResult sample;
    sample.value = value;
    sample.backing.normalBytes = 1000;
    point.samples.push_back(sample);
    point.rounds.push_back(unsigned(point.samples.size()));
  }
  point.summary = summarise(values);
  return point;
}

/// Around \p value, 1 % apart in all.
static std::vector<double> around(double value) {
  std::vector<double> values;
  for (int i = -3; i <= 3; ++i)
    values.push_back(value * (1 + i / 600.0));
  return values;
}

static BenchRun makeRun(std::vector<PointResult> points) {
  ExperimentResult experiment;
  experiment.name = "triad";
  experiment.title = "STREAM triad";
  experiment.unit = "GB/s";
  experiment.higherIsBetter = true;
  experiment.accounting = "24 B an element";
  experiment.xParameter = "size";
  experiment.seriesParameter = "pages";
  experiment.xIsNumber = true;
  experiment.points = std::move(points);
  BenchRun run;
  run.version = "1.2";
  run.date = "2026-11-22T04:00:00Z";
  run.machine = {{"processor", "A"}, {"pools", "2 MiB: 1 of 2 pages free"}};
  run.repetitions = 7;
  run.seed = UINT64_MAX;
  run.experiments.push_back(std::move(experiment));
  return run;
}

/// With everything that a file can hold.
static BenchRun fullRun() {
  BenchRun run = makeRun({makePoint("4K", around(0.1)), makePoint("2M", {})});
  run.quick = true;
  run.load = {12.5, 0.25, 0.01, 1.5};
  ExperimentResult &experiment = run.experiments[0];
  WorkerResult &sample = experiment.points[0].samples[2];
  sample.backing = {1, 2, UINT64_MAX};
  sample.involuntarySwitches = 9;
  sample.counters = {
      {"cycles", uint64_t(1) << 60, ""},
      {"dtlb-load-misses", std::nullopt, "not available: \"no\""}};
  sample.figures = {{"first_touch_ms", 0.1}, {"negative", -1e-9}};
  experiment.points[0].isBusy = true;
  experiment.points[1].missing = "no pages, \"none\";\nput 7 there";
  experiment.guide = {{"A64FX", 32.5, "guide 7.1", ""},
                      {"A64FX, 2M", 33, "guide 7.1", "2M"}};
  Conclusion conclusion;
  conclusion.kind = Conclusion::Kind::notMeasured;
  conclusion.text = "2M against 4K: not measured";
  experiment.conclusions.push_back(conclusion);
  return run;
}

static std::string compared(const BenchRun &before, const BenchRun &after,
                            unsigned expectedWorse = 0) {
  std::string text;
  raw_string_ostream out(text);
  EXPECT_EQ(writeComparison(out, before, after), expectedWorse);
  out.flush();
  return text;
}

static std::string readError(const std::string &text) {
  Expected<BenchRun> run = readBenchJson(text, "a.json");
  return run ? "" : toString(run.takeError());
}

// JSON

TEST(BenchJson, IsReadAsItWasWritten) {
  std::string text = writeText(writeBenchJson, fullRun());
  EXPECT_TRUE(contains(text, "\"schema\": \"mpgbench-1\""));
  EXPECT_LT(text.find("\"schema\""), text.find("\"version\""));
  Expected<BenchRun> run = readBenchJson(text, "a.json");
  ASSERT_TRUE(bool(run)) << toString(run.takeError());
  EXPECT_EQ(writeText(writeBenchJson, *run), text);
  EXPECT_EQ(run->seed, UINT64_MAX);
  const PointResult &point = run->experiments[0].points[0];
  EXPECT_EQ(point.samples[2].backing.hugetlbBytes, UINT64_MAX);
  EXPECT_EQ(point.samples[2].counters[0].value, uint64_t(1) << 60);
  EXPECT_EQ(point.samples[2].figures.at("negative"), -1e-9);
  EXPECT_EQ(point.samples[0].value, 0.1 * (1 - 3 / 600.0));
  EXPECT_TRUE(point.isBusy);
  EXPECT_EQ(run->experiments[0].points[1].missing,
            "no pages, \"none\";\nput 7 there");
}

TEST(BenchJson, TheSummaryIsMadeFromTheSamples) {
  std::string text =
      writeText(writeBenchJson, makeRun({makePoint("4K", around(10))}));
  size_t at = text.find("\"median\": ");
  ASSERT_NE(at, std::string::npos);
  text.insert(at + 10, "7");
  Expected<BenchRun> run = readBenchJson(text, "a.json");
  ASSERT_TRUE(bool(run)) << toString(run.takeError());
  EXPECT_EQ(run->experiments[0].points[0].summary.median, 10);
}

TEST(BenchJson, KeysOfLaterVersionsArePassedOver) {
  std::string text = writeText(writeBenchJson, fullRun());
  text.insert(1, "\"new\": [{\"a\": null}], ");
  EXPECT_EQ(readError(text), "");
}

/// Replaces the first \p from; the error of what comes of it.
static std::string errorAfter(StringRef from, StringRef to) {
  std::string text = writeText(writeBenchJson, fullRun());
  size_t at = text.find(from.str());
  EXPECT_NE(at, std::string::npos) << from.str();
  if (at != std::string::npos)
    text.replace(at, from.size(), to.str());
  return readError(text);
}

TEST(BenchJson, DamageIsNamedWithItsPlace) {
  EXPECT_EQ(errorAfter("\"version\"", "\"Version\""),
            "a.json: version: missing");
  EXPECT_EQ(errorAfter("mpgbench-1", "mpginfo-1"),
            "a.json: schema: 'mpginfo-1' is not mpgbench-1");
  EXPECT_EQ(errorAfter("\"samples\": [", "\"samples\": 1, \"s\": ["),
            "a.json: experiments[0].points[0].samples: not a list");
  EXPECT_EQ(errorAfter("\"round\": 1", "\"round\": 1.5"),
            "a.json: experiments[0].points[0].samples[0].round: not an integer "
            "of 0 or above");
  EXPECT_EQ(errorAfter("\"round\": 1", "\"round\": 99999999999"),
            "a.json: experiments[0].points[0].samples[0].round: too large");
  EXPECT_EQ(errorAfter("\"normal_bytes\": 1000", "\"normal_bytes\": -1"),
            "a.json: experiments[0].points[0].samples[0].backing.normal_bytes: "
            "not an integer of 0 or above");
  EXPECT_EQ(errorAfter("\"quick\": true", "\"quick\": 1"),
            "a.json: quick: neither true nor false");
  EXPECT_EQ(errorAfter("\"not-measured\"", "\"perhaps\""),
            "a.json: experiments[0].conclusions[0].kind: neither yes, no, "
            "undecided nor not-measured");
  EXPECT_EQ(errorAfter("triad/pages=2M", "triad/pages=4K"),
            "a.json: experiments[0].points[1].name: "
            "'triad/pages=4K/size=1G' is there twice");
  EXPECT_EQ(errorAfter("\"load\": {", "\"load\": 5, \"l\": {"),
            "a.json: load: not an object");
  EXPECT_EQ(errorAfter("\"negative\": ", "\"negative\": null, \"x\": "),
            "a.json: experiments[0].points[0].samples[2].figures."
            "negative: not a number");
}

TEST(BenchJson, ValuesThatNothingCanHave) {
  std::string text =
      writeText(writeBenchJson, makeRun({makePoint("4K", {1234})}));
  for (const char *value :
       {"0", "-1", "1e-300", "1e300", "null", "\"1\"", "1e999", "true", "[]"}) {
    std::string damaged = text;
    damaged.replace(damaged.find("\"value\": 1234"), 13,
                    std::string("\"value\": ") + value);
    EXPECT_TRUE(contains(readError(damaged),
                         "a.json: experiments[0].points[0].samples[0].value: "))
        << value << ": " << readError(damaged);
  }
  // No JSON at all.
  for (const char *value : {"nan", "inf", "-Infinity", ""}) {
    std::string damaged = text;
    damaged.replace(damaged.find("\"value\": 1234"), 13,
                    std::string("\"value\": ") + value);
    EXPECT_TRUE(contains(readError(damaged), "a.json: not JSON: ")) << value;
  }
}

TEST(BenchJson, WhatIsNoFileOfResults) {
  for (const char *text : {"", "{", "[]", "null", "5", "\"x\"", "{}", "\xff"})
    EXPECT_TRUE(contains(readError(text), "a.json: ")) << text;
  for (StringRef brackets : {"[", "{\"a\":", "[[],"}) {
    std::string deep;
    for (unsigned i = 0; i < 1000000; ++i)
      deep += brackets;
    EXPECT_NE(readError(deep), "");
  }
  // Brackets inside a text do not count as nesting.
  std::string text = writeText(writeBenchJson, fullRun());
  text.replace(text.find("STREAM"), 6, "\\\"" + std::string(100, '['));
  EXPECT_EQ(readError(text), "");
  // Every beginning of a file.
  for (size_t i = 0; i + 2 < text.size(); i += 7)
    EXPECT_NE(readError(text.substr(0, i)), "");
}

TEST(BenchJson, WhatIsNotFiniteIsStillJson) {
  BenchRun run = fullRun();
  WorkerResult &sample = run.experiments[0].points[0].samples[2];
  sample.figures["nan"] = std::nan("");
  run.load.othersCpus = std::numeric_limits<double>::infinity();
  std::string text = writeText(writeBenchJson, run);
  EXPECT_TRUE(bool(expectedToOptional(json::parse(text))));
  EXPECT_EQ(readError(text), "a.json: load.others_cpus: not a number");
}

TEST(BenchJson, TextThatIsNotUtf8) {
  BenchRun run = fullRun();
  run.machine[0].second = "bad \xff byte";
  EXPECT_EQ(readError(writeText(writeBenchJson, run)), "");
}

// The line of a worker

static std::string formatLine(const WorkerResult &result) {
  std::string text;
  raw_string_ostream out(text);
  writeWorkerResult(out, result);
  out.flush();
  return text;
}

static std::string errorOfLine(StringRef line) {
  Expected<WorkerResult> result = readWorkerResult(line);
  return result ? "" : toString(result.takeError());
}

TEST(WorkerLine, IsReadAsItWasWritten) {
  WorkerResult result = fullRun().experiments[0].points[0].samples[2];
  std::string line = formatLine(result);
  EXPECT_EQ(StringRef(line).count('\n'), 1u);
  EXPECT_EQ(line.back(), '\n');
  Expected<WorkerResult> read = readWorkerResult(line);
  ASSERT_TRUE(bool(read)) << toString(read.takeError());
  EXPECT_EQ(formatLine(*read), line);
}

TEST(WorkerLine, AReasonNeedsNoValue) {
  WorkerResult result;
  result.error = "no free pages:\n0 of 0";
  std::string line = formatLine(result);
  EXPECT_EQ(StringRef(line).count('\n'), 1u);
  Expected<WorkerResult> read = readWorkerResult(line);
  ASSERT_TRUE(bool(read)) << toString(read.takeError());
  EXPECT_EQ(read->error, result.error);
}

TEST(WorkerLine, NonsenseIsRefused) {
  WorkerResult result;
  EXPECT_EQ(errorOfLine(formatLine(result)), "value: must be above 0");
  result.value = -3;
  EXPECT_EQ(errorOfLine(formatLine(result)), "value: must be above 0");
  result.value = std::nan("");
  EXPECT_EQ(errorOfLine(formatLine(result)), "value: not a number");
  EXPECT_EQ(errorOfLine("{\"error\": null}"), "value: missing");
  EXPECT_EQ(errorOfLine("[]"), "not an object");
  for (StringRef line : {"", "Segmentation fault", "{\"error\": nul"})
    EXPECT_TRUE(StringRef(errorOfLine(line)).starts_with("not JSON: "))
        << line.str();
}

// CSV and text

/// The fields of RFC 4180 text, by the rules and not by the writer's code.
static std::vector<std::vector<std::string>>
splitRows(const std::string &text) {
  std::vector<std::vector<std::string>> rows = {{""}};
  bool isQuoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isQuoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"')
      rows.back().back() += text[++i];
    else if (c == '"')
      isQuoted = !isQuoted;
    else if (!isQuoted && c == ',')
      rows.back().emplace_back();
    else if (!isQuoted && c == '\n')
      rows.push_back({""});
    else
      rows.back().back() += c;
  }
  rows.pop_back(); // after the last line
  return rows;
}

TEST(BenchCsv, OneRowASampleAndOneForWhatIsMissing) {
  BenchRun run = fullRun();
  auto rows = splitRows(writeText(writeBenchCsv, run));
  ASSERT_EQ(rows.size(), 1u + 7 + 1);
  for (const auto &row : rows)
    EXPECT_EQ(row.size(), rows[0].size());
  auto cell = [&](size_t row, StringRef name) {
    for (size_t i = 0; i < rows[0].size(); ++i)
      if (rows[0][i] == name)
        return rows[row][i];
    return std::string("no column");
  };
  EXPECT_EQ(cell(3, "experiment"), "triad");
  EXPECT_EQ(cell(3, "parameters"), "pages=4K;size=1G");
  EXPECT_EQ(cell(3, "round"), "3");
  EXPECT_EQ(std::stod(cell(3, "value")),
            run.experiments[0].points[0].samples[2].value);
  EXPECT_EQ(cell(3, "cycles"), "1152921504606846976");
  EXPECT_EQ(cell(3, "dtlb-load-misses"), "");
  EXPECT_EQ(cell(3, "figures"), "first_touch_ms=0.1;negative=-1e-09");
  EXPECT_EQ(cell(3, "busy"), "yes");
  EXPECT_EQ(cell(8, "value"), "");
  EXPECT_EQ(cell(8, "missing"), "no pages, \"none\";\nput 7 there");
}

TEST(BenchText, SaysWhatWasMeasuredAndWhatWasNot) {
  std::string text = writeText(writeBenchText, fullRun());
  EXPECT_TRUE(contains(text, "triad: STREAM triad"));
  EXPECT_TRUE(contains(text, "counted: 24 B an element"));
  EXPECT_TRUE(contains(text, "all with size=1G"));
  EXPECT_TRUE(contains(text, "[0.0995, 0.1005]"));
  EXPECT_TRUE(contains(text, "busy"));
  EXPECT_TRUE(contains(text, "The machine was busy during 1 of 1 points"));
  EXPECT_TRUE(contains(text, "not measured: pages=2M: no pages"));
  EXPECT_TRUE(contains(text, "the guide's figures, of another machine"));
  EXPECT_TRUE(contains(text, "not measured: 2M against 4K"));
  EXPECT_TRUE(contains(text, "first\n"));
  // Names come from files: a terminal must not interpret them.
  BenchRun run = fullRun();
  run.experiments[0].title = run.machine[0].second = "\x1b[31m";
  run.experiments[0].points[0].parameters[0].second = "\x1b[31m";
  run.experiments[0].points[0].samples[2].figures["\x1b[31m"] = 1;
  run.experiments[0].unit = "\x1b[31m";
  EXPECT_FALSE(contains(writeText(writeBenchText, run), "\x1b"));
  EXPECT_FALSE(contains(compared(run, run), "\x1b"));
}

TEST(BenchText, BackingIsWhatTheKernelGave) {
  PointResult point = makePoint("2M", around(10));
  for (WorkerResult &sample : point.samples)
    sample.backing = {25, 0, 75};
  EXPECT_TRUE(contains(writeText(writeBenchText, makeRun({point})),
                       "2M 75 %, normal 25 %"));
}

TEST(BenchText, EmptyRuns) {
  BenchRun run;
  EXPECT_TRUE(contains(writeText(writeBenchText, run), "mpgbench"));
  EXPECT_EQ(splitRows(writeText(writeBenchCsv, run)).size(), 1u);
  EXPECT_EQ(readError(writeText(writeBenchJson, run)), "");
  run = makeRun({});
  EXPECT_TRUE(contains(writeText(writeBenchText, run), "triad: STREAM triad"));
}

// --compare

TEST(BenchCompare, FasterAndSlowerByTheUnit) {
  BenchRun slow = makeRun({makePoint("4K", around(10))});
  BenchRun fast = makeRun({makePoint("4K", around(12))});
  EXPECT_TRUE(contains(compared(slow, fast), "faster 1.20x"));
  EXPECT_TRUE(contains(compared(fast, slow, 1), "slower 1.20x"));
  for (BenchRun *run : {&slow, &fast}) {
    run->experiments[0].unit = "ns";
    run->experiments[0].higherIsBetter = false;
  }
  EXPECT_TRUE(contains(compared(slow, fast, 1), "slower 1.20x"));
  std::string text = compared(fast, slow);
  EXPECT_TRUE(contains(text, "faster 1.20x"));
  EXPECT_TRUE(contains(text, "0.833 ["));
  EXPECT_TRUE(contains(text, "1 point compared: 1 faster, 0 slower."));
}

TEST(BenchCompare, WhatIsNotCertainIsNotSaid) {
  BenchRun run = makeRun({makePoint("4K", around(10))});
  std::string same = compared(run, run);
  EXPECT_TRUE(contains(same, "triad/pages=4K/size=1G"));
  EXPECT_TRUE(contains(same, "no difference seen"));
  EXPECT_FALSE(contains(same, "slower"));
  EXPECT_TRUE(contains(compared(run, makeRun({makePoint("4K", around(10.15))})),
                       "below 2 %"));
  EXPECT_TRUE(contains(compared(run, makeRun({makePoint("4K", {1, 2})})),
                       "too few rounds"));
  EXPECT_TRUE(contains(compared(run, makeRun({makePoint("4K", {})})),
                       "not measured after"));
  BenchRun busy = makeRun({makePoint("4K", around(5))});
  busy.experiments[0].points[0].isBusy = true;
  std::string text = compared(run, busy);
  EXPECT_TRUE(contains(text, "no verdict: busy after"));
  EXPECT_TRUE(contains(text, "No point could be compared."));
}

TEST(BenchCompare, WhatDiffersBesideTheTimes) {
  BenchRun before =
      makeRun({makePoint("4K", around(10)), makePoint("2M", around(9))});
  BenchRun after =
      makeRun({makePoint("4K", around(10)), makePoint("1G", around(9))});
  after.machine[0].second = "B";
  after.machine[1].second = "2 MiB: 2 of 2 pages free";
  after.quick = true;
  for (WorkerResult &sample : after.experiments[0].points[0].samples)
    sample.backing = {0, 1000, 0};
  std::string text = compared(before, after);
  EXPECT_TRUE(contains(text, "The machines differ:\n  processor: A; then B"));
  EXPECT_FALSE(contains(text, "pages free"));
  EXPECT_TRUE(contains(text, "whole arrays; then --quick"));
  EXPECT_TRUE(contains(text, "Only in the first file: triad/pages=2M/size=1G"));
  EXPECT_TRUE(
      contains(text, "Only in the second file: triad/pages=1G/size=1G"));
  EXPECT_TRUE(contains(text, "; normal pages before, THP after"));
  EXPECT_FALSE(contains(compared(before, before), "differ:"));
}

TEST(BenchCompare, OtherUnitsAreNotCompared) {
  BenchRun before = makeRun({makePoint("4K", around(10))}), after = before;
  after.experiments[0].unit = "GiB/s";
  EXPECT_TRUE(contains(compared(before, after), "not compared: the unit is"));
  after.experiments[0].name = "copy";
  std::string text = compared(before, after);
  EXPECT_TRUE(contains(text, "Only in the first file: triad (all of it)"));
  EXPECT_TRUE(contains(text, "Only in the second file: copy (all of it)"));
}

// Results for anybody

TEST(BenchAnonymous, TakesNamesAndPathsOut) {
  const std::vector<std::string> names = {"node17.site.org", "node17", "kilroy",
                                          "root", ""};
  const std::pair<const char *, const char *> cases[] = {
      {"", ""},
      {"/home/kilroy/x: No such file", "(path): No such file"},
      {"cannot open '/sys/fs/cgroup/user-1000'", "cannot open '(path)'"},
      {"on node17.site.org, by kilroy", "on (name), by (name)"},
      {"node17", "(name)"},
      {"Linux 6.1-kilroy", "Linux 6.1-(name)"},
      {"see ../kilroy/y", "see ..(path)"},
      // Other words, units and points.
      {"node170 kilroys kilroykilroy", "node170 kilroys kilroykilroy"},
      {"root can set it to 2", "root can set it to 2"},
      {"triad/pages=2M: 1.2 GB/s", "triad/pages=2M: 1.2 GB/s"},
      {"mix/reads=100%/bytes=1M", "mix/reads=100%/bytes=1M"},
      {"read / write", "read / write"},
      {"/", "/"}};
  for (const auto &[text, expected] : cases)
    EXPECT_EQ(anonymised(text, names), expected) << text;
}

TEST(BenchAnonymous, CleansAllTextsOfARun) {
  BenchRun run;
  run.date = "2026-01-02T03:04:05Z";
  run.machine = {{"kernel", "Linux 6.1-kilroy"}};
  run.experiments.emplace_back();
  ExperimentResult &experiment = run.experiments.back();
  experiment.conclusions.push_back({Conclusion::Kind::no, "by kilroy", {}});
  experiment.points.emplace_back();
  experiment.points[0].missing = "/home/kilroy: gone";
  experiment.points[0].samples.emplace_back();
  experiment.points[0].rounds.push_back(1);
  experiment.points[0].samples[0].counters.push_back(
      {"cycles", std::nullopt, "kilroy may not"});
  anonymise(run, {"kilroy"});
  std::string text = writeText(writeBenchJson, run);
  EXPECT_FALSE(contains(text, "kilroy"));
  EXPECT_FALSE(contains(text, "/home"));
  EXPECT_TRUE(contains(text, "\"2026-01-02\""));
  EXPECT_TRUE(contains(text, "glibc"));
}
