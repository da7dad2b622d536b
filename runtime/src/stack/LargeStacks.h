// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stacks on hugetlb pages, for a fork().

#ifndef MPG_RUNTIME_LARGESTACKS_H
#define MPG_RUNTIME_LARGESTACKS_H

#include "base/Messages.h"
#include "pages/AfterFork.h"

namespace mpg {

/// Call once, when the process stack has been moved or left. \p processStack:
/// its large part; empty if it has none of hugetlb pages.
void noteLargeStack(Range processStack, size_t granuleBytes,
                    Messages &messages);

/// The large part of the stack of the calling thread.
void setThreadStack(Range large);

/// All stacks have left hugetlb pages for good.
void stacksHaveLeft(ThpBytes thpBytes, const void *context);

} // namespace mpg

#endif // MPG_RUNTIME_LARGESTACKS_H
