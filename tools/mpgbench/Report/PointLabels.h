// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short names of points, for tables and sentences: of their parameters only
// those that tell them apart.

#ifndef MPG_TOOLS_MPGBENCH_REPORT_POINTLABELS_H
#define MPG_TOOLS_MPGBENCH_REPORT_POINTLABELS_H

#include "mpgbench/Run/BenchResult.h"

namespace mpg {

/// "yes", "no", "undecided", "not measured".
llvm::StringRef kindWord(Conclusion::Kind kind);

/// Names of the parameters of all points, in order.
std::vector<std::string> parameterNames(const ExperimentResult &result);

/// Those that have the same value in all points, of which there are two at
/// least.
Parameters sharedParameters(const ExperimentResult &result);

/// "pages=2M threads=1": without what all points share; the whole name if that
/// leaves nothing.
std::string pointLabel(const ExperimentResult &result,
                       const PointResult &point);

/// "pages=1G, 12 points": what these have in common; "all points".
/// pre: \p points are some of \p result, at least one.
std::string pointsLabel(const ExperimentResult &result,
                        llvm::ArrayRef<const PointResult *> points);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_REPORT_POINTLABELS_H
