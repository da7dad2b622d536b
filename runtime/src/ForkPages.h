// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a fork() will find what it needs: large pages for those who write to
// shared ones, or memory for a copy that makes that needless. Asked at every
// fork, so without taking any of it where numbers will do.

#ifndef MPG_RUNTIME_FORKPAGES_H
#define MPG_RUNTIME_FORKPAGES_H

#include "Range.h"

namespace mpg {

/// Whether \p bytes of large pages that nobody has reserved can be had now: in
/// the pool, under the limits of cgroups, on the NUMA nodes of this process.
bool pagesCanBeHad(uint64_t bytes, size_t granuleBytes);

/// Whether \p bytes of normal memory can be used without driving the node out
/// of memory (a cgroup's limit is not looked at). True where that cannot be
/// told.
bool memoryCanBeHad(uint64_t bytes);

/// A clock for what may be a second old; never 0.
uint64_t secondsNow();

} // namespace mpg

#endif // MPG_RUNTIME_FORKPAGES_H
