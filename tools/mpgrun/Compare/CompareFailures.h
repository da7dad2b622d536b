// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What cannot be compared: a program that fails, in one mode or in all.

#ifndef MPG_TOOLS_MPGRUN_COMPARE_COMPAREFAILURES_H
#define MPG_TOOLS_MPGRUN_COMPARE_COMPAREFAILURES_H

#include "mpgrun/Compare/CompareResult.h"

namespace mpg {

/// Says in the failure of \p comparison why no two modes are left, if so.
void findWhatIsLeft(Comparison &comparison);

/// Takes out what failed in the round that has ended.
void judgeRound(Comparison &comparison);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_COMPARE_COMPAREFAILURES_H
