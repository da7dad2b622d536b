// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MemoryWork.h.

#include "mpgbench/Experiments/MemoryWork.h"
#include "Support/Format.h"
#include "mpg/kernels.h"
#include "mpgbench/Run/BenchPoints.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mpg;
using namespace llvm;

// Streams

uint64_t mpg::readBlocks(const Block *begin, const Block *end) {
  // As many sums as find room in registers: none waits for the one before.
  constexpr unsigned count = 8;
  uint64_t sums[count] = {};
  for (const Block *block = begin; block < end; ++block)
    for (unsigned i = 0; i < 32; i += count)
      for (unsigned j = 0; j < count; ++j)
        sums[j] += block->words[i + j];
  uint64_t sum = 0;
  for (uint64_t part : sums)
    sum += part;
  return sum;
}

void mpg::touchBlocks(Block *begin, Block *end) {
  for (Block *block = begin; block < end; ++block)
    block->words[0] = uint64_t(block - begin);
}

// Chases

static void walk(const BenchMemory &memory, uint64_t stride,
                 const ChaseWork &work, WorkerResult &result) {
  void *cell =
      mpg_chase_fill(memory.as<void>(), memory.bytes(), stride, work.seed);
  if (!cell) {
    result.error = "mpg_chase_fill refused the buffer";
    return;
  }
  uint64_t cells = memory.bytes() / stride, loads = work.getLoads(cells);
  measureRepeats(result, work.repeats, [&] {
    return runTogether(1, [&](unsigned) {
      void *next = mpg_chase(cell, int64_t(loads));
      if (!next || (loads % cells == 0 && next != cell))
        result.error = "whole cycles do not end where they began";
      cell = next;
    });
  });
  result.value = result.value * 1e9 / double(loads);
}

std::vector<PlannedPoint> mpg::planChase(const PlanContext &context,
                                         ArrayRef<PageKind> kinds,
                                         ArrayRef<uint64_t> sizes,
                                         const char *bytesName,
                                         const std::string &stride) {
  std::vector<PlannedPoint> points;
  for (const PageKind &kind : kinds)
    for (uint64_t bytes : sizes)
      points.push_back({{{"pages", kind.name},
                         {bytesName, sizeName(bytes)},
                         {"stride", stride}},
                        whyNotNow(context.node, kind, bytes)});
  return points;
}

WorkerResult mpg::measureChase(const Parameters &parameters,
                               const ChaseWork &work) {
  WorkerResult result;
  uint64_t bytes = readSize(parameters, work.bytesName, maxBytes, result.error);
  uint64_t stride = readSize(parameters, "stride", maxBytes, result.error);
  if (result.error.empty() && (stride % 8 != 0 || bytes / stride < 2))
    result.error = "stride=" + sizeName(stride) +
                   ": not a multiple of 8 that is in " + work.bytesName + "=" +
                   sizeName(bytes) + " twice";
  measureOn(parameters, bytes, result, [&](const BenchMemory &memory) {
    walk(memory, stride, work, result);
  });
  return result;
}

// Levels in curves

/// How much the points of one plateau may differ, and how much two levels do.
static constexpr double flat = 7.0 / 6, step = 5.0 / 4;

/// One after the last point of the plateau that begins at \p first.
static size_t endOfPlateau(ArrayRef<double> curve, size_t first) {
  double low = curve[first], high = low;
  size_t end = first + 1;
  for (; end < curve.size(); ++end) {
    low = std::min(low, curve[end]);
    high = std::max(high, curve[end]);
    if (high > flat * low)
      break;
  }
  return end;
}

static Level makeLevel(ArrayRef<double> curve, size_t first, size_t end) {
  return {first, end - 1, summarise(curve.slice(first, end - first)).median};
}

std::vector<Level> mpg::findLevels(ArrayRef<double> curve) {
  std::vector<Level> levels;
  for (size_t first = 0; first < curve.size();) {
    size_t end = endOfPlateau(curve, first);
    if (end - first < 2) {
      ++first;
      continue;
    }
    Level level = makeLevel(curve, first, end);
    if (!levels.empty() && level.value < step * levels.back().value)
      levels.back() = makeLevel(curve, levels.back().first, end);
    else
      levels.push_back(level);
    first = end;
  }
  return levels;
}

std::vector<const PointResult *> mpg::getCurve(const ExperimentResult &result,
                                               const Parameters &parameters,
                                               StringRef x) {
  std::vector<const PointResult *> points;
  for (const PointResult &point : result.points)
    if (!point.samples.empty() && all_of(parameters, [&](const auto &wanted) {
          return parameter(point.parameters, wanted.first) == wanted.second;
        }))
      points.push_back(&point);
  llvm::sort(points, [&](const PointResult *a, const PointResult *b) {
    return parseBytes(parameter(a->parameters, x)).value_or(0) <
           parseBytes(parameter(b->parameters, x)).value_or(0);
  });
  return points;
}
