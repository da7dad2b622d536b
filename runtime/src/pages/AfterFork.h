// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a fork() leaves behind for good, for those that put memory onto large
// pages. The fork itself is in fork/, which says so here.

#ifndef MPG_RUNTIME_AFTERFORK_H
#define MPG_RUNTIME_AFTERFORK_H

#include "base/Range.h"

namespace mpg {

/// Whether this process was made by a fork() with this library in it: memory
/// that is there from before may belong to a parent, and the pages that it has
/// reserved are not ours.
bool isForkedChild();
/// pre: no other thread runs.
void becomeForkedChild();

/// Whether new memory may come from the pool of large pages. Not after a fork
/// under which it would have to leave them again. Thread-safe.
bool poolIsOpen();
void closePool();

/// How much of \p region is on transparent huge pages after a fork.
using ThpBytes = uint64_t (*)(const void *context, Range region);

/// For mpgrun's report.
constexpr char movedByForkReason[] = "the program has forked (MPG_FORK)";

} // namespace mpg

#endif // MPG_RUNTIME_AFTERFORK_H
