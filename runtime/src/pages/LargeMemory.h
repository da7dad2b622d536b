// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What libmpg has put on hugetlb pages beside the heap and the segments: large
// parts of stacks, and memory for mpg_alloc_onnode(). A fork() asks for it.
// Memory that the program has asked the kernel for is not among it.

#ifndef MPG_RUNTIME_LARGEMEMORY_H
#define MPG_RUNTIME_LARGEMEMORY_H

#include "base/Range.h"

namespace mpg {

/// \p range may lie on hugetlb pages of \p granuleBytes from now on. What is
/// not there any more need not be forgotten: the kernel's list of mappings
/// decides. Thread-safe, async-signal-safe.
void noteLargeMemory(Range range, size_t granuleBytes);

/// Whether anything was noted since the last forgetLargeMemory().
bool hasLargeMemory();
void forgetLargeMemory();

/// The first part of \p mapping that was noted; empty if there is none. With
/// its \p granuleBytes.
Range notedPart(Range mapping, size_t &granuleBytes);

} // namespace mpg

#endif // MPG_RUNTIME_LARGEMEMORY_H
