// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wss: dependent loads in working sets from less than a cache to more than all
// of them, on small and on large pages: from which size on do the pages matter?
// docs/mpgbench-experiments.md says how, and what to expect.

#include "mpgbench/Experiments/ChaseWork.h"
#include "mpgbench/Run/BenchPoints.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mpg;

static constexpr uint64_t smallestBytes = 16 << 10, fullBytes = 1 << 30,
                          quickBytes = 256 << 20;
/// From size to size: 2 and for --quick 4.
static constexpr unsigned fullFactor = 2, quickFactor = 4;
static constexpr unsigned repeats = 3;
static constexpr uint64_t seed = 20232;

/// Loads of one repetition: whole cycles while they are short. Long ones are
/// walked on from where the last repetition ended, so that a cell comes again
/// only after all others: a stretch that is walked again lies in the caches. A
/// load from memory takes a hundred times as long as one from a small cache, so
/// fewer of them are as exact.
static constexpr uint64_t cachedCells = 4 * 1024, wholeCells = 64 * 1024;
static constexpr uint64_t cachedLoads = 1024 * 1024, otherLoads = 128 * 1024;

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

static std::vector<uint64_t> sizes(const PlanContext &context) {
  std::vector<uint64_t> all;
  uint64_t largest =
      sizeThatFits(context, context.quick ? quickBytes : fullBytes);
  unsigned factor = context.quick ? quickFactor : fullFactor;
  for (uint64_t bytes = smallestBytes; bytes <= largest; bytes *= factor)
    all.push_back(bytes);
  return all;
}

/// The base page and one kind of large ones: 2M if there are enough, else what
/// the kernel gives without being asked.
static std::vector<PageKind> kinds(const PlanContext &context,
                                   uint64_t largest) {
  std::vector<PageKind> all = pageKinds(context.node), chosen = {all.front()};
  const PageKind *large = nullptr;
  for (const PageKind &kind : all) {
    bool isWanted = kind.name == "2M" || kind.isTransparent;
    // 2M comes last, and wins if it can be had, or if there is nothing else.
    if (isWanted && (!large || whyNotNow(context.node, kind, largest).empty()))
      large = &kind;
  }
  if (large)
    chosen.push_back(*large);
  return chosen;
}

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  std::vector<uint64_t> all = sizes(context);
  // One cell in each line of the caches. HW:a64fx-l1d-way, HW:x86-l1d-way
  const char *stride =
      context.node.machine.a64fx == A64fxKind::no ? "64" : "256";
  std::vector<PlannedPoint> points;
  for (const PageKind &kind : kinds(context, all.back()))
    for (uint64_t bytes : all) {
      PlannedPoint point;
      point.parameters = {
          {"pages", kind.name}, {"size", sizeName(bytes)}, {"stride", stride}};
      point.missing = whyNotNow(context.node, kind, bytes);
      points.push_back(std::move(point));
    }
  return points;
}

//===----------------------------------------------------------------------===//
// Worker
//===----------------------------------------------------------------------===//

static uint64_t loadsOf(uint64_t cells) {
  uint64_t loads = cells <= cachedCells ? cachedLoads : otherLoads;
  return cells <= wholeCells ? (loads + cells - 1) / cells * cells : loads;
}

static WorkerResult measure(const Parameters &parameters) {
  return measureChase(parameters, {"size", seed, repeats, loadsOf});
}

//===----------------------------------------------------------------------===//
// What it says
//===----------------------------------------------------------------------===//

static std::vector<GuideFigure> guide() { return {}; }

/// The kind of large pages in \p result; "2M" if there is none.
static std::string largeKind(const ExperimentResult &result) {
  for (const PointResult &point : result.points)
    if (parameter(point.parameters, "pages") == "THP")
      return "THP";
  return "2M";
}

/// Whether large pages are faster for certain.
static bool isFaster(const Conclusion &conclusion) {
  return conclusion.kind == Conclusion::Kind::yes && conclusion.ratio.isReal();
}

/// The size from which on large pages are faster, as an index; the number of
/// sizes if there is none. One size that differs by chance is no parting of
/// the curves: all larger ones have to differ as well.
static size_t findParting(const std::vector<Conclusion> &bySize) {
  size_t first = bySize.size();
  while (first > 0 && isFaster(bySize[first - 1]))
    --first;
  return first;
}

static void conclude(ExperimentResult &result) {
  std::string base = basePageName(), large = largeKind(result);
  std::vector<Conclusion> bySize;
  std::vector<std::string> sizes;
  for (const PointResult &point : result.points) {
    if (parameter(point.parameters, "pages") != base)
      continue;
    std::string size = parameter(point.parameters, "size").str();
    const PointResult *other =
        findPoint(result, {{"pages", large}, {"size", size}});
    bySize.push_back(compareRounds(result, &point, other,
                                   "random loads in " + size + ": " + large +
                                       " pages against " + base));
    sizes.push_back(std::move(size));
  }
  if (bySize.empty())
    return;
  size_t first = findParting(bySize), last = bySize.size() - 1;
  if (first < last) {
    result.conclusions.push_back(bySize[first]);
    result.conclusions.back().text = large + " pages are faster from " +
                                     sizes[first] + " on; " +
                                     bySize[first].text;
  }
  result.conclusions.push_back(bySize[last]);
}

const Experiment mpg::wssExperiment = {
    "wss",
    "dependent loads by working-set size, on small and large pages",
    "ns",
    /*higherIsBetter=*/false,
    "Time of one load. There is one cell in each line of the cache, and all "
    "cells of the working set are one random cycle.",
    "size",
    "pages",
    /*xIsNumber=*/true,
    plan,
    measure,
    guide,
    conclude};
