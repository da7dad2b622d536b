// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verdict on a round of a comparison: which modes failed and are left out,
// and how the outputs of the others differ.

#ifndef MPG_TOOLS_MPGRUN_COMPARE_COMPAREROUND_H
#define MPG_TOOLS_MPGRUN_COMPARE_COMPAREROUND_H

#include "mpgrun/Compare/CompareOutput.h"
#include "mpgrun/Compare/CompareResult.h"
#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <string>

namespace mpg {

/// Standard output and standard error of one run.
using OutputFiles = std::array<OwnedFd, 2>;

/// Takes out what failed in the round that has ended.
void judgeRound(Comparison &comparison);

/// Says in the failure of \p comparison why no two modes are left, if so.
void checkModesLeft(Comparison &comparison);

/// Adds a sentence to \p comparison for each difference.
/// \p firstOutputs: of each mode's warm-up.
void compareOutputs(Comparison &comparison,
                    llvm::ArrayRef<OutputFiles> firstOutputs);

/// "status 1", "signal 11 (Segmentation fault)".
std::string describeStatus(int waitStatus);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_COMPARE_COMPAREROUND_H
