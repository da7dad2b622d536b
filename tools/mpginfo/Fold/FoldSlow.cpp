// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which nodes are slow: see findSlow() in Fold.h.

#include "Measure/Statistics.h"
#include "mpginfo/Fold/Fold.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace mpg;

static constexpr size_t minNodes = 16;
static constexpr double falseAlarms = 0.01; ///< of a fold, for each figure
static constexpr double minShare = 0.02;    ///< of the median

/// How many standard deviations a normal value exceeds with \p probability.
static double normalQuantile(double probability) {
  double low = 0, high = 40;
  for (int step = 0; step < 60; ++step) {
    double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > probability ? low : high) =
        middle;
  }
  return low;
}

void mpg::findSlow(FoldFigure &figure) {
  std::vector<double> values, distances;
  for (const SlowNode &node : figure.values)
    values.push_back(node.value);
  figure.median = summarise(values).median;
  if (values.size() < minNodes)
    return;
  for (double value : values)
    distances.push_back(std::abs(value - figure.median));
  auto count = double(values.size());
  // The deviation is an estimate: the allowance holds the rate from 16 nodes on
  // (test/mpginfo/fold.test counts).
  double allowance = 1 + 5 / count + 1 / std::sqrt(count);
  double reach = 1.4826 * summarise(distances).median *
                 normalQuantile(falseAlarms / count) * allowance;
  reach = std::max(reach, minShare * figure.median);
  figure.limit = figure.median + (figure.isHigherBetter ? -reach : reach);
  for (const SlowNode &node : figure.values)
    if (figure.isHigherBetter ? node.value < *figure.limit
                              : node.value > *figure.limit)
      figure.slow.push_back(node);
  llvm::sort(figure.slow, [&](const SlowNode &left, const SlowNode &right) {
    if (left.value != right.value)
      return (left.value < right.value) == figure.isHigherBetter;
    return left.node < right.node;
  });
}
