// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// latency: dependent loads over footprints from less than a cache to more than
// all of them, on each kind of pages: which levels answer, and from which size
// on do the pages matter? docs/mpgbench-experiments.md says how, and what to
// expect.

#include "Node/NodeMachine.h"
#include "Support/Format.h"
#include "mpgbench/Experiments/MemoryWork.h"
#include "mpgbench/Run/BenchPoints.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mpg;

static constexpr uint64_t smallestBytes = 16 << 10, fullBytes = 1 << 30,
                          quickBytes = 256 << 20;
/// --quick takes every fourth power of 2; else each, and what lies between two
/// where caches end.
static constexpr unsigned fullFactor = 2, quickFactor = 4;
static constexpr uint64_t largestCacheBytes = 64 << 20;
static constexpr unsigned repeats = 3;
static constexpr uint64_t seed = 20232;

/// Loads of one repetition: whole cycles while they are short. Long ones are
/// walked on from where the last repetition ended, so that a cell comes again
/// only after all others: a stretch that is walked again lies in the caches. A
/// load from memory takes a hundred times as long as one from a small cache, so
/// fewer of them are as exact. A last cache that was full of something else
/// needs some dozen turns until it holds an array that it has room for.
static constexpr uint64_t wholeCells = 64 * 1024;
static constexpr uint64_t wholeLoads = 2048 * 1024, otherLoads = 128 * 1024;

// Plan

static std::vector<uint64_t> sizes(const PlanContext &context) {
  std::vector<uint64_t> all;
  uint64_t largest = sizeThatFits(context, quickBytes, fullBytes);
  unsigned factor = context.quick ? quickFactor : fullFactor;
  for (uint64_t bytes = smallestBytes; bytes <= largest; bytes *= factor) {
    all.push_back(bytes);
    if (!context.quick && bytes < std::min(largestCacheBytes, largest))
      all.push_back(bytes + bytes / 2);
  }
  return all;
}

/// All kinds that can be had. --quick: the base page and one kind of large ones
/// (2M if there are enough, else what the kernel gives without being asked).
static std::vector<PageKind> kinds(const PlanContext &context,
                                   uint64_t largest) {
  if (context.quick)
    return baseAndLarge(context, largest);
  std::vector<PageKind> all = pageKinds(context.node);
  llvm::erase_if(all, [&](const PageKind &kind) {
    return !whyNotNow(context.node, kind, largest).empty();
  });
  return all;
}

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  std::vector<uint64_t> all = sizes(context);
  return planChase(context, kinds(context, all.back()), all, "size",
                   std::to_string(cacheLineBytes(context.node)));
}

// Worker

static uint64_t getLoads(uint64_t cells) {
  if (cells > wholeCells)
    return otherLoads;
  return (wholeLoads + cells - 1) / cells * cells;
}

static WorkerResult measure(const Parameters &parameters) {
  return measureChase(parameters, {"size", seed, repeats, getLoads});
}

// Conclusions

/// The kind of large pages that is compared with the base page.
static std::string largeKind(const ExperimentResult &result) {
  std::vector<std::string> kinds = getValues(result, "pages");
  return is_contained(kinds, "2M") || !is_contained(kinds, "THP") ? "2M"
                                                                  : "THP";
}

static std::string getSize(const PointResult &point) {
  return parameter(point.parameters, "size").str();
}

/// " L2": the smallest cache that holds the array at \p point, a level's last,
/// by the sizes that the system tells; " memory" if none does; "" where it does
/// not tell.
static std::string nameOfLevel(const PointResult &point) {
  uint64_t bytes = parseBytes(getSize(point)).value_or(0);
  bool isKnown = false;
  for (const DataCache &cache : readDataCaches(SysTree("/"))) {
    std::optional<uint64_t> cacheBytes = parseBytes(cache.size);
    isKnown |= cacheBytes.has_value();
    if (cacheBytes && bytes <= *cacheBytes)
      return " L" + std::to_string(cache.level);
  }
  return isKnown ? " memory" : "";
}

/// "levels on 2M pages: L1 1.1 ns up to 32K, L2 3.9 ns up to 768K, ...". On
/// large pages, where the TLB adds least.
static void reportLevels(ExperimentResult &result, const std::string &pages) {
  std::vector<const PointResult *> points =
      getCurve(result, {{"pages", pages}}, "size");
  std::vector<double> curve;
  for (const PointResult *point : points)
    curve.push_back(point->summary.median);
  std::vector<Level> levels = findLevels(curve);
  if (levels.size() < 2)
    return;
  Conclusion conclusion;
  conclusion.text = "levels on " + pages + " pages:";
  for (const Level &level : ArrayRef(levels).drop_back())
    conclusion.text +=
        formatv("{0} {1:f1} ns up to {2},", nameOfLevel(*points[level.last]),
                level.value, getSize(*points[level.last]));
  const PointResult &last = *points[levels.back().first];
  conclusion.text += formatv("{0} {1:f1} ns from {2} on",
                             nameOfLevel(*points[levels.back().last]),
                             levels.back().value, getSize(last));
  bool isBusy = any_of(points, [](const PointResult *p) { return p->isBusy; });
  conclusion.kind =
      isBusy ? Conclusion::Kind::undecided : Conclusion::Kind::yes;
  if (isBusy)
    conclusion.text += "; the machine was busy, so this is not a verdict";
  result.conclusions.push_back(std::move(conclusion));
}

/// Whether large pages are faster for certain.
static bool isFaster(const Conclusion &conclusion) {
  return conclusion.kind == Conclusion::Kind::yes && conclusion.ratio.isReal();
}

/// The size from which on large pages are faster, as an index; the number of
/// sizes if there is none. One size may differ by chance: all larger ones have
/// to differ as well.
static size_t findParting(const std::vector<Conclusion> &bySize) {
  size_t first = bySize.size();
  while (first > 0 && isFaster(bySize[first - 1]))
    --first;
  return first;
}

static void conclude(ExperimentResult &result) {
  std::string base = basePageName(), large = largeKind(result);
  reportLevels(result, large);
  std::vector<Conclusion> bySize;
  std::vector<std::string> sizes;
  for (const PointResult &point : result.points) {
    if (parameter(point.parameters, "pages") != base)
      continue;
    std::string size = getSize(point);
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

const Experiment mpg::latencyExperiment = {
    {"latency",
     "dependent loads by footprint and kind of pages: caches and memory", "ns",
     /*higherIsBetter=*/false,
     "Time of one load. There is one cell in each line of the cache, and all "
     "cells of the working set are one random cycle.",
     "size", "pages",
     /*xIsNumber=*/true},
    plan,
    measure,
    conclude};
