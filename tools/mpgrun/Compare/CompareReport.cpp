// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of mpgrun --compare, for people and as JSON. For people: a table
// with one column for each mode, what one has to know about the runs, a
// sentence for each mode, and the verdict as the last line.

#include "Measure/Statistics.h"
#include "Support/Format.h"
#include "Support/HtmlPage.h"
#include "mpgrun/Compare/CompareResult.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

namespace {

/// A table in the making: the words of one row, the first of which names it.
class CompareTable {
public:
  explicit CompareTable(const Comparison &comparison);
  void write(raw_ostream &out) const;

private:
  template <typename Cell> void addRow(StringRef name, Cell cell);
  void addTimes();
  void addMetric(const Metric &metric);
  void addMemory();
  void addCounters();
  std::optional<std::string> whyMissing(size_t index) const;

  std::vector<const ModeResult *> modes; ///< that have figures
  std::vector<std::vector<std::string>> rows;
  std::vector<std::pair<std::string, std::string>> missingCounters; ///< why
};

} // namespace

/// In the unit of the median, or of the most if that is 0: "4.21 s
/// [4.18, 4.26]".
static std::string formatSeconds(const Summary &summary) {
  struct Unit {
    double perSecond;
    StringRef name;
  };
  if (summary.max == 0)
    return "0 s"; // less than the kernel's clock for it can tell
  double shown = summary.median > 0 ? summary.median : summary.max;
  static constexpr Unit units[] = {{1, "s"}, {1e3, "ms"}, {1e6, "us"}};
  Unit unit = units[0];
  for (const Unit &smaller : units)
    if (shown * unit.perSecond < 1)
      unit = smaller;
  double digits = shown * unit.perSecond;
  int decimals = digits < 9.995 ? 2 : digits < 99.95 ? 1 : 0;
  auto show = [&](double seconds) {
    std::string text;
    raw_string_ostream out(text);
    out << format("%.*f", decimals, seconds * unit.perSecond);
    return out.str();
  };
  std::string text = show(summary.median) + " " + unit.name.str();
  if (summary.interval)
    text += " [" + show(summary.interval->low) + ", " +
            show(summary.interval->high) + "]";
  return text;
}

/// "28,311"
static std::string formatCount(const Summary &summary) {
  return formatv("{0:N}", uint64_t(summary.median)).str();
}

template <typename Cell> void CompareTable::addRow(StringRef name, Cell cell) {
  std::vector<std::string> row = {name.str()};
  for (const ModeResult *mode : modes)
    row.push_back(cell(*mode));
  rows.push_back(std::move(row));
}

void CompareTable::addTimes() {
  auto seconds = [&](StringRef name, auto value) {
    addRow(name, [&](const ModeResult &mode) {
      return formatSeconds(summarise(mode.values(value)));
    });
  };
  auto count = [&](StringRef name, auto value) {
    addRow(name, [&](const ModeResult &mode) {
      return formatCount(summarise(mode.values(value)));
    });
  };
  seconds("wall time", [](const RunSample &run) { return run.wallSeconds; });
  seconds("CPU time", [](const RunSample &run) { return run.cpuSeconds(); });
  seconds("kernel time",
          [](const RunSample &run) { return run.systemSeconds; });
  count("page faults", [](const RunSample &run) { return run.minorFaults; });
  count("major faults", [](const RunSample &run) { return run.majorFaults; });
}

/// "12.34 [12.11, 12.51]", in the program's own unit.
static std::string formatMetric(const Summary &summary) {
  std::string text;
  raw_string_ostream out(text);
  out << format("%.4g", summary.median);
  if (summary.interval)
    out << format(" [%.4g, %.4g]", summary.interval->low,
                  summary.interval->high);
  return out.str();
}

void CompareTable::addMetric(const Metric &metric) {
  addRow("metric, " + metric.direction().str(), [](const ModeResult &mode) {
    return formatMetric(summarise(
        mode.values([](const RunSample &run) { return run.metric.value; })));
  });
}

void CompareTable::addMemory() {
  addRow("peak memory", [](const ModeResult &mode) -> std::string {
    return mode.peakBytes ? formatBytes(mode.peakBytes) : "not known";
  });
  addRow("large pages", [](const ModeResult &mode) -> std::string {
    const ModeMemory &memory = mode.memory;
    if (!memory.measured && !memory.hasState)
      return "not known";
    return formatBytes(memory.maxHugeBytes()) + " of " +
           formatBytes(memory.maxBytes());
  });
}

/// Why no row can be made of counter \p index; nothing: every run has it.
std::optional<std::string> CompareTable::whyMissing(size_t index) const {
  for (const ModeResult *mode : modes)
    for (const RunSample &sample : mode->samples) {
      const CounterValue &counter = sample.counters[index];
      if (sample.round > 0 && !counter.value)
        return counter.missing.empty() ? "not available" : counter.missing;
    }
  return std::nullopt;
}

/// Do not repeat counters that a line above has.
void CompareTable::addCounters() {
  static constexpr StringLiteral known[] = {"page-faults", "minor-faults",
                                            "major-faults"};
  std::string lastReason;
  ArrayRef<CounterValue> counters = modes.front()->samples.front().counters;
  for (size_t index = 0; index < counters.size(); ++index) {
    const std::string &name = counters[index].name;
    if (is_contained(known, name))
      continue;
    if (std::optional<std::string> reason = whyMissing(index)) {
      if (*reason != lastReason)
        missingCounters.push_back({"", *reason});
      std::string &names = missingCounters.back().first;
      names += (names.empty() ? "" : ", ") + name;
      lastReason = *reason;
      continue;
    }
    addRow(name, [&](const ModeResult &mode) {
      return formatCount(summarise(mode.values([&](const RunSample &sample) {
        return *sample.counters[index].value;
      })));
    });
  }
  // None of the processor's: no need to name each.
  if (missingCounters.size() == 1 &&
      StringRef(missingCounters[0].first).starts_with("cycles, instructions, "))
    missingCounters[0].first = "cycles, misses of the TLB and other counters";
  if (counters.empty())
    missingCounters.push_back({"counters", "not available"});
}

CompareTable::CompareTable(const Comparison &comparison) {
  for (const ModeResult &mode : comparison.modes)
    if (mode.missing.empty())
      modes.push_back(&mode);
  addRow("", [](const ModeResult &mode) { return mode.name; });
  if (comparison.metric)
    addMetric(*comparison.metric);
  addTimes();
  addMemory();
  addCounters();
}

void CompareTable::write(raw_ostream &out) const {
  std::vector<size_t> widths(modes.size() + 1);
  for (const std::vector<std::string> &row : rows)
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  for (const std::vector<std::string> &row : rows) {
    std::string line = " ";
    for (size_t column = 0; column < row.size(); ++column)
      line += " " + row[column] +
              std::string(widths[column] - row[column].size() + 1, ' ');
    out << StringRef(line).rtrim() << "\n";
  }
  for (const auto &[names, reason] : missingCounters)
    out << "  " << fillText(names + ": " + reason, 4) << "\n";
}

static std::string describeRounds(const Comparison &comparison) {
  return std::to_string(comparison.rounds) +
         (comparison.rounds == 1 ? " round" : " rounds") +
         " after a warm-up, seed " + std::to_string(comparison.seed);
}

void mpg::writeCompareText(raw_ostream &out, const Comparison &comparison) {
  auto paragraph = [&](const std::string &text) {
    out << fillText(printable(text), 2) << "\n";
  };
  out << "mpgrun: compared:";
  for (const std::string &word : comparison.command)
    out << " " << printable(word);
  out << "\n";
  if (comparison.failure.empty()) {
    paragraph("  " + describeRounds(comparison));
    CompareTable(comparison).write(out);
    if (comparison.isLoadKnown)
      paragraph("  machine: " + comparison.load.describe());
  }
  int status = 0;
  if (comparison.failure.empty())
    status = comparison.modes.front().samples.front().waitStatus;
  if (status)
    paragraph("note: the program ended with status " +
              std::to_string(status >> 8) + " in every run");
  for (const std::string &note : comparison.notes)
    paragraph("note: " + note);
  for (const std::string &line : comparison.outputs)
    paragraph(line);
  for (const ModeResult &mode : ArrayRef(comparison.modes).drop_front()) {
    // Of the one that was the last hope the last line speaks.
    std::string missing = mode.name + ": " + mode.missing;
    if (comparison.failure.empty() ||
        (!mode.missing.empty() && missing != comparison.failure))
      paragraph(describeMode(comparison, mode));
  }
  out << printable(describeBest(comparison)) << "\n";
}

/// The verdict, then the report as it is printed.
void mpg::writeCompareHtml(raw_ostream &out, const Comparison &comparison) {
  std::string text;
  raw_string_ostream stream(text);
  writeCompareText(stream, comparison);
  std::string title = "Modes of " + printable(comparison.command[0]);
  beginHtmlPage(out, "mpgrun " + comparison.version, title);
  out << "<main>\n<h1>" << escapeHtml(title) << "</h1>\n<p>"
      << escapeHtml(describeBest(comparison)) << "</p>\n<pre tabindex=\"0\">"
      << escapeHtml(text) << "</pre>\n</main>\n</body>\n</html>\n";
}

//===----------------------------------------------------------------------===//
// For programs
//===----------------------------------------------------------------------===//
//
// Schema mpgcompare-1, in docs/schema/mpgcompare-1.schema.json. All numbers are
// integers: times in nanoseconds, ratios in millionths.

static int64_t scaled(double value, double scale) {
  return int64_t(std::llround(value * scale));
}
static int64_t nanoseconds(double seconds) { return scaled(seconds, 1e9); }
static int64_t millionths(double ratio) { return scaled(ratio, 1e6); }

static int getStatus(int waitStatus) {
  return WIFSIGNALED(waitStatus) ? -WTERMSIG(waitStatus)
                                 : WEXITSTATUS(waitStatus);
}

static json::Value orNull(uint64_t value) {
  return value ? json::Value(int64_t(value)) : json::Value(nullptr);
}

static void writeCounters(json::OStream &json, const RunSample &sample) {
  json.attributeArray("counters", [&] {
    for (const CounterValue &counter : sample.counters)
      json.object([&] {
        json.attribute("name", counter.name);
        json.attribute("value", counter.value
                                    ? json::Value(int64_t(*counter.value))
                                    : json::Value(nullptr));
        json.attribute("missing", validUtf8(counter.missing));
      });
  });
}

static void writeSample(json::OStream &json, const RunSample &sample) {
  json.object([&] {
    json.attribute("round", int64_t(sample.round));
    json.attribute("status", getStatus(sample.waitStatus));
    json.attribute("wall_ns", nanoseconds(sample.wallSeconds));
    json.attribute("user_ns", nanoseconds(sample.userSeconds));
    json.attribute("system_ns", nanoseconds(sample.systemSeconds));
    json.attribute("minor_faults", int64_t(sample.minorFaults));
    json.attribute("major_faults", int64_t(sample.majorFaults));
    json.attribute("peak_rss_bytes", orNull(sample.peakRssBytes));
    // As text: no unit makes every such number an integer.
    json.attribute("metric", sample.metric.text.empty()
                                 ? json::Value(nullptr)
                                 : json::Value(validUtf8(sample.metric.text)));
    json.attribute("stdout_sha256", sample.digests[0]);
    json.attribute("stderr_sha256", sample.digests[1]);
    writeCounters(json, sample);
  });
}

static void writeMemory(json::OStream &json, const ModeMemory &memory) {
  json.attributeObject("memory", [&] {
    json.attribute("measured", memory.measured);
    json.attribute("libmpg", memory.hasState);
    json.attribute("hugetlb_fallback", memory.fallback);
    json.attribute("peak_hugetlb_bytes", int64_t(memory.peakHugetlbBytes));
    json.attribute("end_bytes", int64_t(memory.bytes));
    json.attribute("end_huge_bytes", int64_t(memory.hugeBytes));
    json.attribute("reason", validUtf8(memory.reason));
  });
}

static void writeRatio(json::OStream &json, const Ratio &ratio) {
  json.attributeObject("speedup", [&] {
    json.attribute("millionths", millionths(ratio.value));
    json.attribute("low_millionths",
                   ratio.interval ? json::Value(millionths(ratio.interval->low))
                                  : json::Value(nullptr));
    json.attribute("high_millionths",
                   ratio.interval
                       ? json::Value(millionths(ratio.interval->high))
                       : json::Value(nullptr));
  });
}

static bool hasFigures(const Comparison &comparison, const ModeResult &mode) {
  return comparison.failure.empty() && mode.missing.empty();
}

static void writeMode(json::OStream &json, const Comparison &comparison,
                      const ModeResult &mode) {
  bool isBase = &mode == &comparison.modes.front();
  json.object([&] {
    json.attribute("mode", mode.name);
    json.attribute("missing", validUtf8(mode.missing));
    json.attribute("peak_bytes", orNull(mode.peakBytes));
    writeMemory(json, mode.memory);
    if (isBase || !hasFigures(comparison, mode)) {
      json.attribute("speedup", nullptr);
      json.attribute("verdict", nullptr);
    } else {
      Ratio speedup = computeSpeedup(comparison, mode);
      writeRatio(json, speedup);
      bool isUsable = !mode.hadNone() && !isTooBusy(comparison);
      json.attribute("verdict",
                     isUsable ? json::Value(verdictName(judgeSpeedup(speedup)))
                              : json::Value(nullptr));
    }
    json.attributeArray("runs", [&] {
      for (const RunSample &sample : mode.samples)
        writeSample(json, sample);
    });
  });
}

static void writeTexts(json::OStream &json, StringRef key,
                       ArrayRef<std::string> texts) {
  json.attributeArray(key, [&] {
    for (const std::string &text : texts)
      json.value(validUtf8(text));
  });
}

static void writeMachine(json::OStream &json, const Comparison &comparison) {
  json.attributeObject("machine", [&] {
    json.attribute("processor", validUtf8(comparison.processor));
    json.attribute("cpus", int64_t(comparison.cpus));
    json.attribute("kernel", validUtf8(comparison.kernel));
  });
  if (!comparison.isLoadKnown) {
    json.attribute("load", nullptr);
    return;
  }
  const LoadBetween &load = comparison.load;
  json.attributeObject("load", [&] {
    json.attribute("busy", load.isBusy());
    json.attribute("others_cpu_millionths", millionths(load.othersCpus));
    json.attribute("steal_cpu_millionths", millionths(load.stealCpus));
    json.attribute("average_millionths", millionths(load.loadAverage));
  });
}

static void writeMetric(json::OStream &json, const Comparison &comparison) {
  static constexpr StringRef bases[] = {"wall-time", "cpu-time", "metric"};
  json.attribute("basis", bases[size_t(computeBasis(comparison))]);
  if (!comparison.metric) {
    json.attribute("metric", nullptr);
    return;
  }
  json.attributeObject("metric", [&] {
    json.attribute("regex", validUtf8(comparison.metric->regex));
    json.attribute("better", comparison.metric->isMoreBetter ? "more" : "less");
  });
}

void mpg::writeCompareJson(raw_ostream &out, const Comparison &comparison) {
  json::OStream json(out, 2);
  json.object([&] {
    json.attribute("schema", "mpgcompare-1");
    json.attribute("version", comparison.version);
    json.attribute("date", comparison.date);
    writeTexts(json, "command", comparison.command);
    writeMachine(json, comparison);
    json.attribute("rounds", int64_t(comparison.rounds));
    // As text: not every reader of JSON keeps 64 bits.
    json.attribute("seed", std::to_string(comparison.seed));
    writeMetric(json, comparison);
    json.attributeArray("modes", [&] {
      for (const ModeResult &mode : comparison.modes)
        writeMode(json, comparison, mode);
    });
    writeTexts(json, "notes", comparison.notes);
    writeTexts(json, "outputs", comparison.outputs);
    json.attribute("conclusion", validUtf8(describeBest(comparison)));
  });
  out << "\n";
}
