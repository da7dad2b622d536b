// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays that are fresh at one call only, because the function that allocates
// them fills them too: one call of mpg_first_touch there has to be right for
// all of them, and is told about once.

#ifndef MPG_PASSES_SHAREDSITES_H
#define MPG_PASSES_SHAREDSITES_H

#include "openmp/ArrayVerdict.h"

namespace mpg {

struct JudgedArray {
  const ArrayStory *story;
  ArrayVerdict verdict;
};

/// Gives \p arrays an obstacle where one call would not be right for all that
/// come from it, and marks those that are another's once more, as the callers
/// of a function see it.
void settleSharedSites(llvm::MutableArrayRef<JudgedArray> arrays,
                       CallFrames &frames);

} // namespace mpg

#endif // MPG_PASSES_SHAREDSITES_H
