// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fork() in a program with memory on hugetlb pages.

#ifndef MPG_RUNTIME_FORK_H
#define MPG_RUNTIME_FORK_H

namespace mpg {

/// From here on the segments and the stack are asked at every fork() what to do
/// about it (SegmentFork.h, StackFork.h). May be called again.
void handleForks();

/// Whether memory that is there from before may belong to a parent: the pages
/// that it has reserved are not ours.
bool isForkedChild();

} // namespace mpg

#endif // MPG_RUNTIME_FORK_H
