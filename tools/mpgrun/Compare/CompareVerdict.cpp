// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the rounds of a comparison to a word and a sentence: by which time modes
// are compared, and when a difference is large and sure enough to report. See
// CompareResult.h.

#include "Support/Format.h"
#include "mpgrun/Compare/CompareResult.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mpg;

/// A ratio that prints as 1.00x does not matter, however sure it is.
static constexpr double minRatio = 1.005;
/// "No gain" means that more than this is ruled out.
static constexpr double ruledOutGain = 1.05;

SpeedVerdict mpg::judgeSpeedup(const Ratio &speedup) {
  if (!speedup.interval)
    return SpeedVerdict::undecided;
  if (speedup.interval->low > 1 && speedup.value >= minRatio)
    return SpeedVerdict::faster;
  if (speedup.interval->high < 1 && speedup.value <= 1 / minRatio)
    return SpeedVerdict::slower;
  return speedup.interval->high <= ruledOutGain ? SpeedVerdict::noGain
                                                : SpeedVerdict::undecided;
}

StringRef mpg::verdictName(SpeedVerdict verdict) {
  static constexpr StringRef names[] = {"faster", "undecided", "no-gain",
                                        "slower"};
  return names[size_t(verdict)];
}

std::string mpg::describeSpeedup(const Ratio &speedup, Basis basis) {
  bool isMetric = basis == Basis::metric;
  switch (judgeSpeedup(speedup)) {
  case SpeedVerdict::faster:
    return describeRatio(speedup, isMetric ? " better" : " faster");
  case SpeedVerdict::slower: {
    Ratio slowdown;
    slowdown.value = 1 / speedup.value;
    slowdown.interval = {1 / speedup.interval->high, 1 / speedup.interval->low};
    return describeRatio(slowdown, isMetric ? " worse" : " slower");
  }
  case SpeedVerdict::noGain:
    return "no gain: " + describeRatio(speedup);
  case SpeedVerdict::undecided:
    break;
  }
  std::string text = "undecided: " + describeRatio(speedup);
  return speedup.interval ? text
                          : text + ", fewer than 6 rounds give no interval";
}

/// Whether CPU time is what the program used, all of it and nothing else. Some
/// kernels count time that a hypervisor took as the program's.
static bool hasCpuTimes(const Comparison &comparison) {
  if (comparison.leftProcesses || comparison.load.isStolen())
    return false;
  for (const ModeResult &mode : comparison.modes)
    for (const RunSample &sample : mode.samples)
      if (mode.missing.empty() && sample.cpuSeconds() <= 0)
        return false;
  return true;
}

static bool isBusy(const Comparison &comparison) {
  return comparison.isLoadKnown && comparison.load.isBusy();
}

Basis mpg::computeBasis(const Comparison &comparison) {
  if (isBusy(comparison) && hasCpuTimes(comparison))
    return Basis::cpuTime;
  return comparison.metric ? Basis::metric : Basis::wallTime;
}

bool mpg::isTooBusy(const Comparison &comparison) {
  return isBusy(comparison) && computeBasis(comparison) != Basis::cpuTime;
}

static std::vector<double> getValues(const ModeResult &mode, Basis basis) {
  return mode.values([&](const RunSample &sample) {
    switch (basis) {
    case Basis::wallTime:
      return sample.wallSeconds;
    case Basis::cpuTime:
      return sample.cpuSeconds();
    case Basis::metric:
      break;
    }
    return sample.metric.value;
  });
}

Ratio mpg::computeSpeedup(const Comparison &comparison, const ModeResult &mode,
                          double tail) {
  Basis basis = computeBasis(comparison);
  std::vector<double> before = getValues(mode, basis);
  std::vector<double> after = getValues(comparison.modes.front(), basis);
  if (basis == Basis::metric && comparison.metric->isMoreBetter)
    std::swap(before, after);
  return pairedRatio(before, after, tail);
}

/// "0 B of 300 MiB on large pages: the pool is empty"
static std::string describeHad(const ModeResult &mode) {
  const ModeMemory &memory = mode.memory;
  std::string text = formatBytes(memory.maxHugeBytes()) + " of " +
                     formatBytes(memory.maxBytes()) + " on large pages";
  return memory.reason.empty() ? text : text + ": " + memory.reason;
}

std::string mpg::describeMode(const Comparison &comparison,
                              const ModeResult &mode) {
  std::string text = mode.name + ": ";
  if (!mode.missing.empty())
    return text + mode.missing;
  Ratio speedup = computeSpeedup(comparison, mode);
  Basis basis = computeBasis(comparison);
  if (mode.hadNone())
    return text + describeHad(mode) + "; " + describeRatio(speedup) +
           " says nothing about them";
  text += isTooBusy(comparison) ? "measured " + describeRatio(speedup)
                                : describeSpeedup(speedup, basis);
  if (basis == Basis::cpuTime)
    text += " by CPU time";
  if (mode.usesLibmpg && mode.memory.fallback)
    text += "; with " + describeHad(mode);
  return text;
}

/// "large pages", or against another base "hugetlb against thp"
static std::string makeSubject(const Comparison &comparison,
                               const ModeResult &mode) {
  const ModeResult &base = comparison.modes.front();
  if (base.name == "none")
    return "large pages";
  return mode.name + " against " + base.name;
}

/// The mode that the verdict is about; null: none was on large pages.
static const ModeResult *findBest(const Comparison &comparison) {
  const ModeResult *best = nullptr;
  Ratio bestSpeedup;
  for (const ModeResult &mode : ArrayRef(comparison.modes).drop_front()) {
    if (!mode.missing.empty() || mode.hadNone())
      continue;
    Ratio speedup = computeSpeedup(comparison, mode);
    SpeedVerdict verdict = judgeSpeedup(speedup);
    SpeedVerdict bestVerdict = judgeSpeedup(bestSpeedup);
    if (best && (verdict > bestVerdict || (verdict == bestVerdict &&
                                           speedup.value <= bestSpeedup.value)))
      continue;
    best = &mode;
    bestSpeedup = speedup;
  }
  return best;
}

bool mpg::isDecided(const Comparison &comparison) {
  constexpr double strictTail = 0.01;
  const ModeResult *best = findBest(comparison);
  return !best || isTooBusy(comparison) ||
         judgeSpeedup(computeSpeedup(comparison, *best, strictTail)) !=
             SpeedVerdict::undecided;
}

/// Why the times say nothing. pre: isTooBusy().
static std::string describeTooBusy(const Comparison &comparison) {
  const LoadBetween &load = comparison.load;
  if (load.isStolen())
    return formatv("the hypervisor took {0:f2} CPUs, and CPU time holds some "
                   "of that",
                   load.stealCpus);
  return "the machine was busy: " + load.describe() +
         (comparison.leftProcesses
              ? "; CPU time of processes that outlived the program is missing"
              : "; CPU time was not measured");
}

std::string mpg::describeBest(const Comparison &comparison) {
  if (!comparison.failure.empty())
    return "nothing compared: " + comparison.failure;
  const ModeResult *best = findBest(comparison);
  if (!best) {
    const ModeResult *without = find_if(
        ArrayRef(comparison.modes).drop_front(), [](const ModeResult &mode) {
          return mode.missing.empty() && mode.hadNone();
        });
    return "no verdict: " + without->name + ": " + describeHad(*without);
  }
  if (isTooBusy(comparison))
    return "no verdict: " + describeTooBusy(comparison);
  Ratio speedup = computeSpeedup(comparison, *best);
  Basis basis = computeBasis(comparison);
  std::string text = describeSpeedup(speedup, basis);
  if (judgeSpeedup(speedup) != SpeedVerdict::noGain)
    text = makeSubject(comparison, *best) + ": " + text;
  text += " (" + best->name + ")";
  if (basis == Basis::cpuTime)
    text += " by CPU time; the machine was busy: " + comparison.load.describe();
  return text;
}
