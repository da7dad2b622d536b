// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves memory off hugetlb pages, for good: before a fork, and for a call for
// single pages (BasePages.h).

#ifndef MPG_RUNTIME_FORKMOVE_H
#define MPG_RUNTIME_FORKMOVE_H

#include "fork/ForkList.h"

namespace mpg {

/// Moves all of \p list, the stack in use included. Returns 0 or
/// an errno value; then the rest is where it was. What was moved keeps its
/// contents and rights. pre: no other thread runs, signals are blocked.
int moveOffLargePages(const ForkList &list);

/// The same for one stretch. pre: the stack in use is not in it.
int moveOffLargePages(const ForkStretch &stretch);

/// Normal pages to run on while the stack in use is replaced. Null if there is
/// no memory for them. One user at a time.
void *ownStackTop();
/// Unless it is in use: each fork would copy its page tables.
void discardOwnStack();

} // namespace mpg

#endif // MPG_RUNTIME_FORKMOVE_H
