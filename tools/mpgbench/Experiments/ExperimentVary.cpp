// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// vary: how much the same work differs from run to run, because its pages lie
// elsewhere each time. docs/mpgbench-experiments.md says how, and what to
// expect.

#include "mpgbench/Experiments/MemoryWork.h"
#include "mpgbench/Run/BenchPoints.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;
using namespace mpg;

static constexpr unsigned repeats = 3;
/// The same cycle in each process.
static constexpr uint64_t seed = 20235;

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  std::vector<uint64_t> sizes = {512 << 10};
  if (!context.quick)
    sizes = {256 << 10, 512 << 10, 1 << 20, 4 << 20, 16 << 20};
  return planChase(context, pageKinds(context.node), sizes, "size",
                   std::to_string(cacheLineBytes(context.node)));
}

/// Whole cycles.
static uint64_t getLoads(uint64_t cells) {
  constexpr uint64_t minLoads = 1 << 20;
  return (minLoads + cells - 1) / cells * cells;
}

static WorkerResult measure(const Parameters &parameters) {
  return measureChase(parameters, {"size", seed, repeats, getLoads});
}

/// How far each run is from the median, in parts of it.
static std::vector<double> deviations(const PointResult &point) {
  // Two runs that agree to a millionth are equal; a ratio needs a number.
  constexpr double min = 1e-6;
  std::vector<double> all;
  for (double value : getValues(point))
    all.push_back(std::max(std::abs(value / point.summary.median - 1), min));
  return all;
}

static std::string spread(const PointResult &point) {
  return formatv("{0:f1} %", 100 * (point.summary.max - point.summary.min) /
                                 point.summary.median);
}

/// Brown and Forsythe's idea by ranks: runs that spread less lie closer to
/// their median.
static void compareSpread(ExperimentResult &result, const PointResult &base,
                          const PointResult &large) {
  Conclusion conclusion;
  conclusion.ratio = unpairedRatio(deviations(large), deviations(base));
  bool isBusy = base.isBusy || large.isBusy;
  if (!isBusy && conclusion.ratio.interval)
    conclusion.kind = conclusion.ratio.interval->low > 1 ? Conclusion::Kind::yes
                      : conclusion.ratio.interval->high < 1
                          ? Conclusion::Kind::no
                          : Conclusion::Kind::undecided;
  conclusion.text =
      ("runs over " + parameter(base.parameters, "size") + " differ less on " +
       parameter(large.parameters, "pages") + " pages: by up to " +
       spread(large) + " instead of " + spread(base) + "; a run is " +
       describeRatio(conclusion.ratio) + " closer to the median" +
       (isBusy ? "; the machine was busy, so this is not a verdict" : ""))
          .str();
  result.conclusions.push_back(std::move(conclusion));
}

static void conclude(ExperimentResult &result) {
  for (const std::string &size : getValues(result, "size")) {
    const PointResult *base =
        findPoint(result, {{"pages", basePageName()}, {"size", size}});
    for (const char *pages : {"2M", "1G"}) {
      const PointResult *large =
          findPoint(result, {{"pages", pages}, {"size", size}});
      if (base && large && !base->samples.empty() && !large->samples.empty())
        compareSpread(result, *base, *large);
    }
  }
}

const Experiment mpg::varyExperiment = {
    {"vary",
     "the same loads in many processes: how much placement makes them differ",
     "ns",
     /*higherIsBetter=*/false,
     "Time of one load; one cell in each line, the same random cycle in each "
     "process. What differs is where the pages lie. More rounds (--repeat) see "
     "more placements.",
     "size", "pages",
     /*xIsNumber=*/true},
    plan,
    measure,
    conclude};
