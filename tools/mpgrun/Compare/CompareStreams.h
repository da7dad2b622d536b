// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the program wrote the same in all modes.

#ifndef MPG_TOOLS_MPGRUN_COMPARE_COMPARESTREAMS_H
#define MPG_TOOLS_MPGRUN_COMPARE_COMPARESTREAMS_H

#include "mpgrun/Compare/CompareOutput.h"
#include "mpgrun/Compare/CompareResult.h"
#include "llvm/ADT/ArrayRef.h"
#include <array>

namespace mpg {

/// Standard output and standard error of one run.
using OutputFiles = std::array<OwnedFd, 2>;

/// Adds a sentence to \p comparison for each difference.
/// \p firstOutputs: of each mode's warm-up.
void compareOutputs(Comparison &comparison,
                    llvm::ArrayRef<OutputFiles> firstOutputs);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_COMPARE_COMPARESTREAMS_H
