// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// chase: loads that each wait for the one before and each go to another page,
// in random order: the worst case for a TLB. docs/mpgbench-experiments.md says
// how, and what to expect.

#include "mpgbench/Experiments/MemoryWork.h"
#include "mpgbench/Run/BenchPoints.h"

using namespace llvm;
using namespace mpg;

/// The cells of the small buffer find room in the caches, so that the page
/// walks are most of what is measured; for those of the large one memory has to
/// be asked as well. --quick has the small one only.
static constexpr uint64_t smallBytes = 128 << 20, largeBytes = 1 << 30;
static constexpr unsigned repeats = 5;
/// A repetition walks whole cycles, at least so many loads.
static constexpr uint64_t minLoads = 128 * 1024;
/// The same cycle in each process; where its pages lie differs.
static constexpr uint64_t seed = 20231;

static std::vector<uint64_t> sizes(const PlanContext &context) {
  std::vector<uint64_t> all = {sizeThatFits(context, smallBytes)};
  if (!context.quick && sizeThatFits(context, largeBytes) > all.front())
    all.push_back(sizeThatFits(context, largeBytes));
  return all;
}

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  return planChase(context, pageKinds(context.node), sizes(context), "bytes",
                   sizeName(context.node.pages.baseBytes.valueOr(4096)));
}

/// Whole cycles.
static uint64_t getLoads(uint64_t cells) {
  return (minLoads + cells - 1) / cells * cells;
}

static WorkerResult measure(const Parameters &parameters) {
  return measureChase(parameters, {"bytes", seed, repeats, getLoads});
}

static void conclude(ExperimentResult &result) {
  for (const std::string &bytes : getValues(result, "bytes"))
    comparePages(result, {{"bytes", bytes}},
                 "dependent loads from page to page in " + bytes);
}

const Experiment mpg::chaseExperiment = {
    {"chase", "dependent loads that go from page to page in random order", "ns",
     /*higherIsBetter=*/false,
     "Time of one load. There is one cell in each base page, at an offset that "
     "changes; all cells are one random cycle, which is walked whole.",
     "pages", "bytes",
     /*xIsNumber=*/false},
    plan,
    measure,
    conclude};
