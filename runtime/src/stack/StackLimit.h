// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process stack on large pages follows RLIMIT_STACK, which the kernel looks
// at whenever a stack of its own grows, and a program may change at any time.

#ifndef MPG_RUNTIME_STACKLIMIT_H
#define MPG_RUNTIME_STACKLIMIT_H

#include "base/Range.h"

namespace mpg {

/// A stack as Stack.cpp has left it.
struct PlacedStack {
  uintptr_t end = 0; ///< the top, as the kernel has made it or main sees it
  Range large;
  size_t granuleBytes = 0;
  bool isWhole = false; ///< the large part reaches above the top
  bool grows = false;   ///< on normal pages below the large part
};

/// Large pages that a stack has not used yet take no more than this part of
/// what a limit on memory leaves.
constexpr unsigned stackShareOfLimit = 32;

/// From here on the stack is \p stack. pre: one thread.
void watchStackLimit(const PlacedStack &stack);

/// The limit may have changed. Raised above the large part, the stack grows
/// below it; lowered, whole granules that are below the limit and not in use
/// cannot be touched any more, until it is raised again.
void applyStackLimit();

/// A limit on memory may have been set: where it is near, the stack gives back
/// what it has not used, and grows on normal pages instead.
void applyMemoryLimit();

} // namespace mpg

#endif // MPG_RUNTIME_STACKLIMIT_H
