// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of mpgrun --compare, for people and as JSON. For people: a table
// with one column for each mode, what one has to know about the runs, a
// sentence for each mode, and the verdict as the last line.

#include "Measure/Statistics.h"
#include "Process/RunReport.h"
#include "Support/Format.h"
#include "Support/HtmlPage.h"
#include "Support/JsonItem.h"
#include "Support/Table.h"
#include "mpgrun/Compare/CompareResult.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;
using namespace mpg;

namespace {

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
  void addStalls(std::optional<MemoryStalls> StallCounts::*whose,
                 StringRef name);
  std::optional<std::string> whyMissing(size_t index) const;

  std::vector<const ModeResult *> modes; ///< that have figures
  Table table;
  std::vector<std::pair<std::string, std::string>> missingCounters; ///< why
  bool hasStalls = false; ///< rows of addStalls
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
    return format("%.*f", decimals, seconds * unit.perSecond);
  };
  std::string text = formatv("{0} {1}", show(summary.median), unit.name);
  if (summary.interval)
    text += formatv(" [{0}, {1}]", show(summary.interval->low),
                    show(summary.interval->high));
  return text;
}

/// "28,311"
static std::string formatCount(const Summary &summary) {
  return formatv("{0:N}", uint64_t(summary.median));
}

template <typename Cell> void CompareTable::addRow(StringRef name, Cell cell) {
  std::vector<std::string> row = {name.str()};
  for (const ModeResult *mode : modes)
    row.push_back(cell(*mode));
  table.addRow(std::move(row));
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
  std::string text = formatv("{0}", format("%.4g", summary.median));
  if (summary.interval)
    text += formatv("{0}", format(" [%.4g, %.4g]", summary.interval->low,
                                  summary.interval->high));
  return text;
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
      bool exists = index < sample.counters.size();
      if (sample.round > 0 && !(exists && sample.counters[index].value))
        return exists && !sample.counters[index].missing.empty()
                   ? sample.counters[index].missing
                   : "not available";
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

/// The sum of the rounds of \p mode; 0 where the kernel does not tell.
static uint64_t sumStalls(const ModeResult &mode,
                          std::optional<MemoryStalls> StallCounts::*whose,
                          StringRef key) {
  uint64_t sum = 0;
  for (const RunSample &sample : mode.samples)
    if (sample.round > 0 && sample.stalls.*whose)
      for (auto [name, count] : (sample.stalls.*whose)->counts())
        sum += name == key ? count.value_or(0) : 0;
  return sum;
}

/// Only rows in which there is something.
void CompareTable::addStalls(std::optional<MemoryStalls> StallCounts::*whose,
                             StringRef name) {
  static constexpr std::pair<StringLiteral, StringLiteral> rows[] = {
      {"compactions", "compactions"},
      {"compactions_in_vain", "those in vain"},
      {"refused_faults", "large pages refused"},
      {"splits", "large pages split"},
      {"collapses", "made by khugepaged"}};
  for (const auto &[key, title] : rows) {
    auto sum = [&, &key = key](const ModeResult &mode) {
      return sumStalls(mode, whose, key);
    };
    if (none_of(modes, [&](const ModeResult *mode) { return sum(*mode) > 0; }))
      continue;
    hasStalls = true;
    addRow((title + ", " + name).str(), [&](const ModeResult &mode) {
      return formatv("{0:N}", sum(mode)).str();
    });
  }
}

CompareTable::CompareTable(const Comparison &comparison) {
  for (const ModeResult &mode : comparison.modes)
    if (mode.missing.empty())
      modes.push_back(&mode);
  table.addColumn("");
  for (const ModeResult *mode : modes)
    table.addColumn(mode->name);
  if (comparison.metric)
    addMetric(*comparison.metric);
  addTimes();
  addMemory();
  addCounters();
  addStalls(&StallCounts::group, "group");
  addStalls(&StallCounts::machine, "machine");
}

void CompareTable::write(raw_ostream &out) const {
  table.write(out, /*indent=*/2);
  for (const auto &[names, reason] : missingCounters)
    writeFilled(out, "  ", names + ": " + reason, 4);
  if (hasStalls)
    writeFilled(out, "  ",
                "machine, group: sums of the rounds, of all processes of "
                "the machine or of the control group",
                4);
}

void mpg::writeCompareText(raw_ostream &out, const Comparison &comparison) {
  auto paragraph = [&](const std::string &text) {
    writeFilled(out, "", printable(text), 2);
  };
  out << "mpgrun: compared:";
  for (const std::string &word : comparison.command)
    out << " " << printable(word);
  out << "\n";
  if (comparison.failure.empty()) {
    paragraph("  " + countWord(comparison.rounds, "round") +
              " after a warm-up, seed " + std::to_string(comparison.seed));
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
    // The last line names the mode whose failure left nothing to compare.
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
  beginHtmlPage(out, {"mpgrun " + comparison.version, title, title});
  writeHtmlText(out, describeBest(comparison));
  out << "</header>\n<main>\n<pre tabindex=\"0\">" << escapeHtml(text)
      << "</pre>\n";
  endHtmlPage(out);
}

// For programs. Schema mpgcompare-1, in docs/schema/mpgcompare-1.schema.json.
// All numbers are integers: times in nanoseconds, ratios in millionths.

static int64_t scaled(double value, double scale) {
  return int64_t(std::llround(value * scale));
}
static int64_t nanoseconds(double seconds) { return scaled(seconds, 1e9); }
static int64_t millionths(double ratio) { return scaled(ratio, 1e6); }

static JsonItem orNull(uint64_t value) {
  return value ? JsonItem(value) : JsonItem();
}

static JsonObject counterItem(const CounterValue &counter) {
  return {{"name", counter.name},
          {"value", counter.value},
          {"missing", counter.missing}};
}

static JsonObject sampleItem(const RunSample &sample) {
  return {{"round", sample.round},
          {"status", endingNumber(sample.waitStatus)},
          {"wall_ns", nanoseconds(sample.wallSeconds)},
          {"user_ns", nanoseconds(sample.userSeconds)},
          {"system_ns", nanoseconds(sample.systemSeconds)},
          {"minor_faults", sample.minorFaults},
          {"major_faults", sample.majorFaults},
          {"peak_rss_bytes", orNull(sample.peakRssBytes)},
          // As text: no unit makes every such number an integer.
          {"metric", textOrNull(sample.metric.text)},
          {"stdout_sha256", sample.digests[0]},
          {"stderr_sha256", sample.digests[1]},
          {"counters", jsonList(sample.counters, counterItem)},
          {"machine_stalls", stallsItem(sample.stalls.machine)},
          {"group_stalls", stallsItem(sample.stalls.group)}};
}

static JsonObject memoryItem(const ModeMemory &memory) {
  return {{"measured", memory.measured},
          {"libmpg", memory.hasState},
          {"hugetlb_fallback", memory.fallback},
          {"peak_hugetlb_bytes", memory.peakHugetlbBytes},
          {"end_bytes", memory.bytes},
          {"end_huge_bytes", memory.hugeBytes},
          {"reason", memory.reason}};
}

static JsonObject ratioItem(const Ratio &ratio) {
  JsonItem low, high;
  if (ratio.interval) {
    low = millionths(ratio.interval->low);
    high = millionths(ratio.interval->high);
  }
  return {{"millionths", millionths(ratio.value)},
          {"low_millionths", low},
          {"high_millionths", high}};
}

static JsonObject modeItem(const Comparison &comparison,
                           const ModeResult &mode) {
  JsonItem ratio, verdict;
  bool isBase = &mode == &comparison.modes.front();
  if (!isBase && comparison.failure.empty() && mode.missing.empty()) {
    Ratio speedup = computeSpeedup(comparison, mode);
    ratio = ratioItem(speedup);
    if (!mode.hadNone() && !isTooBusy(comparison))
      verdict = verdictName(judgeSpeedup(speedup));
  }
  return {{"mode", mode.name},
          {"missing", mode.missing},
          {"peak_bytes", orNull(mode.peakBytes)},
          {"memory", memoryItem(mode.memory)},
          {"speedup", ratio},
          {"verdict", verdict},
          {"runs", jsonList(mode.samples, sampleItem)}};
}

static JsonItem loadItem(const Comparison &comparison) {
  if (!comparison.isLoadKnown)
    return nullptr;
  const LoadBetween &load = comparison.load;
  return JsonObject{{"busy", load.isBusy()},
                    {"others_cpu_millionths", millionths(load.othersCpus)},
                    {"steal_cpu_millionths", millionths(load.stealCpus)},
                    {"average_millionths", millionths(load.loadAverage)}};
}

static JsonItem metricItem(const std::optional<Metric> &metric) {
  if (!metric)
    return nullptr;
  return JsonObject{{"regex", metric->regex},
                    {"better", metric->isMoreBetter ? "more" : "less"}};
}

void mpg::writeCompareJson(raw_ostream &out, const Comparison &comparison) {
  static constexpr StringRef bases[] = {"wall-time", "cpu-time", "metric"};
  auto mode = [&](const ModeResult &one) { return modeItem(comparison, one); };
  writeJson(
      out,
      JsonObject{{"schema", "mpgcompare-1"},
                 {"version", comparison.version},
                 {"date", comparison.date},
                 {"command", comparison.command},
                 {"machine", JsonObject{{"processor", comparison.processor},
                                        {"cpus", comparison.cpus},
                                        {"kernel", comparison.kernel}}},
                 {"load", loadItem(comparison)},
                 {"rounds", comparison.rounds},
                 // As text: not every reader of JSON keeps 64 bits.
                 {"seed", std::to_string(comparison.seed)},
                 {"basis", bases[size_t(computeBasis(comparison))]},
                 {"metric", metricItem(comparison.metric)},
                 {"modes", jsonList(comparison.modes, mode)},
                 {"notes", comparison.notes},
                 {"outputs", comparison.outputs},
                 {"conclusion", describeBest(comparison)}},
      /*indent=*/2);
  out << "\n";
}
