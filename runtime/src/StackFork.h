// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stacks on hugetlb pages and fork().

#ifndef MPG_RUNTIME_STACKFORK_H
#define MPG_RUNTIME_STACKFORK_H

#include "Fork.h"
#include "Messages.h"

namespace mpg {

/// The large part of the process stack has become smaller.
void processStackBeginsAt(uintptr_t start);

/// From here on a fork() is no danger to programs with stacks on hugetlb pages.
/// Call once, when the process stack has been moved or left.
/// \p processStack: its large part; empty if it has none of hugetlb pages.
void watchForks(Range processStack, size_t granuleBytes, Messages &messages);

/// The large part of the stack of the calling thread.
void setThreadStack(Range large);

// The steps of Fork.cpp.

/// The stack that fork() was called on, if it is on hugetlb pages.
struct StackAtFork {
  Range range;      ///< its large part
  size_t bytes = 0; ///< of it may be written to before the child leaves it
  size_t granuleBytes = 0;
};
StackAtFork stackAtFork();
/// \p promisedBytes of pages of the same size are not to be counted on.
void prepareStack(const StackAtFork &stack, uint64_t promisedBytes);
void stackInChild();

} // namespace mpg

#endif // MPG_RUNTIME_STACKFORK_H
