// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Large pages in the stack of a thread, for as long as the thread lives.

#ifndef MPG_RUNTIME_THREADPAGES_H
#define MPG_RUNTIME_THREADPAGES_H

#include "base/Env.h"
#include "base/Messages.h"

namespace mpg {

/// Call once, before the others.
void startThreadPages(const Config &config, Messages &messages);

/// Lays a stack of \p bytes, all but its low end on large pages, below the end
/// of \p stack, which is the frame of a new thread; it begins at its start or,
/// if that is 0, where the memory map says. \p isCapped: not more than a part
/// of the pool for all such stacks together. Returns the top; 0: the stack is
/// as it was. Says what is not as asked for.
/// pre: in the thread itself; signals wait; nothing lies below the frame.
uintptr_t putLargePages(Range stack, size_t bytes, bool isCapped);

/// In a child process: puts normal pages in the place of large ones that lie
/// below the frame of this new thread, because its stack was one of the parent.
void leaveParentsPages();

} // namespace mpg

#endif // MPG_RUNTIME_THREADPAGES_H
