// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// chase: loads that each wait for the one before and each go to another page,
// in random order: the worst case for a TLB. docs/mpgbench-experiments.md says
// how, and what to expect.

#include "Bench/BenchPoints.h"
#include "mpg/kernels.h"
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// The cells of the small buffer find room in the caches, so that the page
/// walks are most of what is measured; for those of the large one memory has to
/// be asked as well. --quick has the small one only.
static constexpr uint64_t smallBytes = 128 << 20, largeBytes = 1 << 30;
static constexpr unsigned repeats = 5;
/// A repetition walks whole cycles, at least so many loads.
static constexpr uint64_t leastLoads = 128 * 1024;
/// The same cycle in each process; where its pages lie differs.
static constexpr uint64_t seed = 20231;

static std::vector<uint64_t> sizes(const PlanContext &context) {
  std::vector<uint64_t> all = {sizeThatFits(context, smallBytes)};
  if (!context.quick && sizeThatFits(context, largeBytes) > all.front())
    all.push_back(sizeThatFits(context, largeBytes));
  return all;
}

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  std::string stride = sizeName(context.node.pages.baseBytes.valueOr(4096));
  std::vector<PlannedPoint> points;
  for (const PageKind &kind : pageKinds(context.node))
    for (uint64_t bytes : sizes(context)) {
      PlannedPoint point;
      point.parameters = {
          {"pages", kind.name}, {"bytes", sizeName(bytes)}, {"stride", stride}};
      point.missing = whyNotNow(context.node, kind, bytes);
      points.push_back(std::move(point));
    }
  return points;
}

static void measureChase(StringRef pages, uint64_t bytes, uint64_t stride,
                         WorkerResult &result) {
  BenchMemory memory(bytes, pages);
  result.error = memory.error();
  if (!result.error.empty())
    return;
  void *first = mpg_chase_fill(memory.as<void>(), bytes, stride, seed);
  if (!first) {
    result.error = "mpg_chase_fill refused the buffer";
    return;
  }
  uint64_t cells = bytes / stride;
  uint64_t loads = (leastLoads + cells - 1) / cells * cells;
  measureRepeats(result, repeats, [&] {
    return runTogether(1, [&](unsigned) {
      if (mpg_chase(first, int64_t(loads)) != first)
        result.error = "whole cycles do not end where they began";
    });
  });
  memory.addBacking(result.backing);
  if (result.error.empty())
    result.error = memory.checkBacking();
  result.value = result.value * 1e9 / double(loads);
}

static WorkerResult measure(const Parameters &parameters) {
  WorkerResult result;
  uint64_t bytes = readSize(parameters, "bytes", mostBytes, result.error);
  uint64_t stride = readSize(parameters, "stride", mostBytes, result.error);
  if (result.error.empty() && (stride % 8 != 0 || bytes / stride < 2))
    result.error = "stride=" + sizeName(stride) +
                   ": not a multiple of 8 that is in bytes=" + sizeName(bytes) +
                   " twice";
  if (result.error.empty())
    measureChase(parameter(parameters, "pages"), bytes, stride, result);
  // Such as a value on other pages than those of the point.
  if (!result.error.empty())
    result.value = 0;
  return result;
}

static std::vector<GuideFigure> guide() { return {}; }

static void conclude(ExperimentResult &result) {
  for (const std::string &bytes : valuesOf(result, "bytes"))
    comparePages(result, {{"bytes", bytes}},
                 "dependent loads from page to page in " + bytes);
}

const Experiment mpg::chaseExperiment = {
    "chase",
    "dependent loads that go from page to page in random order",
    "ns",
    /*higherIsBetter=*/false,
    "Time of one load. There is one cell in each base page, at an offset that "
    "changes; all cells are one random cycle, which is walked whole.",
    "pages",
    "bytes",
    /*xIsNumber=*/false,
    plan,
    measure,
    guide,
    conclude};
