// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Levels.h.

#include "mpgbench/Experiments/Levels.h"
#include "Support/Format.h"
#include "mpgbench/Run/Experiment.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

/// How much the points of one plateau may differ, and how much two levels do.
static constexpr double flat = 7.0 / 6, step = 5.0 / 4;

/// One behind the last point of the plateau that begins at \p first.
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

static Level levelOf(ArrayRef<double> curve, size_t first, size_t end) {
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
    Level level = levelOf(curve, first, end);
    if (!levels.empty() && level.value < step * levels.back().value)
      levels.back() = levelOf(curve, levels.back().first, end);
    else
      levels.push_back(level);
    first = end;
  }
  return levels;
}

std::vector<const PointResult *> mpg::curveOf(const ExperimentResult &result,
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
