// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of mpgrun --compare for programs: schema mpgcompare-1, which
// stands in docs/schema/mpgcompare-1.schema.json. All numbers are integers:
// times in nanoseconds, ratios in millionths.

#include "Support/Format.h"
#include "mpgrun/Compare/CompareVerdict.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

static int64_t scaled(double value, double scale) {
  return int64_t(std::llround(value * scale));
}
static int64_t nanoseconds(double seconds) { return scaled(seconds, 1e9); }
static int64_t millionths(double ratio) { return scaled(ratio, 1e6); }

static int statusOf(int waitStatus) {
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
    json.attribute("status", statusOf(sample.waitStatus));
    json.attribute("wall_ns", nanoseconds(sample.wallSeconds));
    json.attribute("user_ns", nanoseconds(sample.userSeconds));
    json.attribute("system_ns", nanoseconds(sample.systemSeconds));
    json.attribute("minor_faults", int64_t(sample.minorFaults));
    json.attribute("major_faults", int64_t(sample.majorFaults));
    json.attribute("peak_rss_bytes", orNull(sample.peakRssBytes));
    // As text: there is no unit in which every such number is an integer.
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
      Ratio speedup = speedupOf(comparison, mode);
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
  json.attribute("basis", bases[size_t(basisOf(comparison))]);
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
