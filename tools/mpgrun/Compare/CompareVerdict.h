// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a comparison says in one sentence. The rules stand in
// docs/howto-compare.md, too:
//
//   faster     all of the interval is above 1, and the gain shows in two digits
//   slower     the same below 1
//   no gain    neither, and a gain of more than 5 % is ruled out
//   undecided  the rest: the interval is too wide to tell, or there is none
//
// There is no verdict where the machine was busy.

#ifndef MPG_TOOLS_MPGRUN_COMPARE_COMPAREVERDICT_H
#define MPG_TOOLS_MPGRUN_COMPARE_COMPAREVERDICT_H

#include "Measure/Statistics.h"
#include "mpgrun/Compare/CompareResult.h"

namespace mpg {

enum class SpeedVerdict : uint8_t { faster, undecided, noGain, slower };

/// \p speedup is the time of the base divided by that of the mode.
SpeedVerdict judgeSpeedup(const Ratio &speedup);

/// "faster", "undecided", "no-gain", "slower", for JSON.
llvm::StringRef verdictName(SpeedVerdict verdict);

/// "1.12x faster [1.09, 1.15]", "no gain: 1.00x [0.98, 1.02]", ...
std::string describeSpeedup(const Ratio &speedup);

/// Of wall time, over the rounds that count.
/// pre: both have figures.
Ratio speedupOf(const ModeResult &base, const ModeResult &mode);

/// One sentence for each mode that is no base: "hugetlb: 1.12x faster ...".
std::string describeMode(const Comparison &comparison, const ModeResult &mode);

/// The last line of the report: of the best mode, or why there is no verdict.
std::string describeBest(const Comparison &comparison);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_COMPARE_COMPAREVERDICT_H
