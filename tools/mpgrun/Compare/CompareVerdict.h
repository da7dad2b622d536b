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
// What is compared is wall time or, with --metric, the number that the program
// prints. Where other processes kept the machine busy it is CPU time, and the
// sentence says so; where a hypervisor took time there is no verdict.

#ifndef MPG_TOOLS_MPGRUN_COMPARE_COMPAREVERDICT_H
#define MPG_TOOLS_MPGRUN_COMPARE_COMPAREVERDICT_H

#include "Measure/Statistics.h"
#include "mpgrun/Compare/CompareResult.h"

namespace mpg {

enum class SpeedVerdict : uint8_t { faster, undecided, noGain, slower };

/// What the ratios are of.
enum class Basis : uint8_t { wallTime, cpuTime, metric };
Basis basisOf(const Comparison &comparison);

/// Whether the machine was too busy for any basis that there is.
bool isTooBusy(const Comparison &comparison);

/// \p speedup is the time of the base divided by that of the mode.
SpeedVerdict judgeSpeedup(const Ratio &speedup);

/// "faster", "undecided", "no-gain", "slower", for JSON.
llvm::StringRef verdictName(SpeedVerdict verdict);

/// "1.12x faster [1.09, 1.15]", "no gain: 1.00x [0.98, 1.02]", ...; of a
/// metric "better" and "worse", since it need not be a time.
std::string describeSpeedup(const Ratio &speedup, Basis basis);

/// Of \p mode against the first one, over the rounds that count: above 1 it is
/// better.
/// pre: both have figures.
Ratio speedupOf(const Comparison &comparison, const ModeResult &mode);

/// One sentence for each mode that is no base: "hugetlb: 1.12x faster ...".
std::string describeMode(const Comparison &comparison, const ModeResult &mode);

/// The last line of the report: of the best mode, or why there is no verdict.
std::string describeBest(const Comparison &comparison);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_COMPARE_COMPAREVERDICT_H
