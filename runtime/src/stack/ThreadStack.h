// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stacks of threads and large pages: pthread_create is interposed, and
// pthread_getattr_np, because it would tell what is not so. glibc makes, caches
// and frees the stacks. A thread for which no large pages are asked costs
// what it costs under glibc; which are meant stands in docs/environment.md.

#ifndef MPG_RUNTIME_THREADSTACK_H
#define MPG_RUNTIME_THREADSTACK_H

#include "base/Env.h"
#include "base/Messages.h"
#include <pthread.h>

namespace mpg {

/// From here on new threads may get large pages. Until this call, and after it
/// if \p config says base, pthread_create is passed through unchanged.
/// \p config and \p messages are used as long as there are threads.
void startThreadStacks(const Config &config, Messages &messages);

/// The C library's functions, found by those who interpose them.
struct ThreadCalls {
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  /// What the C library takes from a thread's stack for itself, at most;
  /// nullptr: not known, then the memory map is asked for each large stack.
  size_t (*ownBytes)(const pthread_attr_t *);
};

/// pthread_create with large pages. As soon as anything is not as expected, it
/// is pthread_create without them.
int createThread(const ThreadCalls &calls, pthread_t *thread,
                 const pthread_attr_t *attributes, void *(*function)(void *),
                 void *argument);

/// Puts right what pthread_getattr_np says about a process stack in two parts,
/// and about the stack of a thread on large pages.
void correctAttributes(pthread_t thread, pthread_attr_t *attributes);

//===----------------------------------------------------------------------===//
// Large pages in it, for as long as the thread lives (ThreadPages.cpp)
//===----------------------------------------------------------------------===//

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

#endif // MPG_RUNTIME_THREADSTACK_H
