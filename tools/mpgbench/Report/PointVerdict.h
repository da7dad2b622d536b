// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One point in two runs: whether the difference is real.
//
// A difference is called real if the interval of the ratio excludes 1 and the
// ratio is 2 % away from it. The intervals hold 95 % each and are not widened
// for their number, which with seven rounds would leave nothing to be seen: out
// of a hundred points without a difference about five intervals exclude 1. Most
// of those are below 2 %, as are the small shifts between two runs of the same
// thing; and the text says how many chance would give.

#ifndef MPG_TOOLS_MPGBENCH_REPORT_POINTVERDICT_H
#define MPG_TOOLS_MPGBENCH_REPORT_POINTVERDICT_H

#include "mpgbench/Run/BenchResult.h"

namespace mpg {

struct PointVerdict {
  enum class Kind : uint8_t { none, same, small, better, worse };
  Kind kind = Kind::none; ///< none: it cannot be compared
  Ratio ratio;            ///< after to before, in the experiment's unit
  std::string text;       ///< "faster 1.12x; THP pages before, hugetlb after"
};

PointVerdict judgePoint(const PointResult &before, const PointResult &after,
                        bool higherIsBetter);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_REPORT_POINTVERDICT_H
