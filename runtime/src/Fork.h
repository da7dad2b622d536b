// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fork() in a program with memory on hugetlb pages.

#ifndef MPG_RUNTIME_FORK_H
#define MPG_RUNTIME_FORK_H

namespace mpg {

/// From here on every fork() is asked about (ForkPlan.h). May be called again.
void handleForks();

/// Whether memory that is there from before may belong to a parent: the pages
/// that it has reserved are not ours.
bool isForkedChild();

} // namespace mpg

#endif // MPG_RUNTIME_FORK_H
