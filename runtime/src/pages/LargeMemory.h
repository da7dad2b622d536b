// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libmpg's hugetlb memory beside the heap and the segments: large parts of
// stacks, and memory for mpg_alloc_onnode(). A fork() needs the list. Memory
// that the program itself mapped is not included.
//
// Also the lasting effects of a fork(), for code that puts memory onto large
// pages. fork/ does the work and records it here.

#pragma once

#include "base/Messages.h"
#include "base/Range.h"

namespace mpg {

/// Records that \p range may be on hugetlb pages of \p hugePageBytes from now
/// on. Freed memory need not be removed: the kernel's list of mappings decides.
/// Thread-safe, async-signal-safe.
void noteLargeMemory(Range range, size_t hugePageBytes);

/// Whether anything was noted since the last forgetLargeMemory().
bool hasLargeMemory();
void forgetLargeMemory();

/// The first recorded part of \p mapping, with its \p hugePageBytes; empty if
/// there is none.
Range notedPart(Range mapping, size_t &hugePageBytes);

/// Whether this process was made by a fork() with this library in it: memory
/// that is there from before may belong to a parent, and the pages that it has
/// reserved are not ours.
bool isForkedChild();
/// pre: no other thread runs.
void becomeForkedChild();

/// Whether new memory may come from the pool of large pages. False after a fork
/// that would have to move it off again. Thread-safe.
bool poolIsOpen();
void closePool();

/// How much of \p region is on transparent huge pages after a fork.
using ThpBytes = uint64_t (*)(const void *context, Range region);

/// For mpgrun's report.
constexpr char movedByForkReason[] = "the program has forked (MPG_FORK)";

/// Stacks on hugetlb pages. Call once, when the process stack has been moved or
/// left. \p processStack: its large part; empty if it has none of hugetlb
/// pages.
void noteLargeStack(Range processStack, size_t hugePageBytes,
                    Messages &messages);

/// The large part of the stack of the calling thread.
void setThreadStack(Range large);

/// All stacks have left hugetlb pages for good.
void stacksHaveLeft(ThpBytes thpBytes, const void *context);

} // namespace mpg
