// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stacks of threads on large pages: interposes pthread_create, and
// pthread_getattr_np, whose answer would be wrong. glibc makes, caches and
// frees the stacks. A thread without a request for large pages costs the same
// as under glibc; docs/environment.md lists which stacks get them.

#pragma once

#include "base/Env.h"
#include "base/Messages.h"
#include <pthread.h>

namespace mpg {

/// From here on new threads may get large pages. Until this call, and after it
/// if \p config says base, pthread_create is passed through unchanged. \p
/// config and \p messages must live as long as there are threads.
void startThreadStacks(const Config &config, Messages &messages);

/// The C library's functions, found by those who interpose them.
struct ThreadCalls {
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  /// Maximum that the C library takes from a thread's stack for itself;
  /// nullptr: unknown, so the memory map is read for each large stack.
  size_t (*ownBytes)(const pthread_attr_t *);
};

/// pthread_create with large pages. As soon as anything is not as expected, it
/// is pthread_create without them.
int createThread(const ThreadCalls &calls, pthread_t *thread,
                 const pthread_attr_t *attributes, void *(*function)(void *),
                 void *argument);

/// Corrects the answer of pthread_getattr_np for a process stack in two parts,
/// and for the stack of a thread on large pages.
void correctAttributes(pthread_t thread, pthread_attr_t *attributes);

// Large pages in it, for as long as the thread lives (ThreadPages.cpp)

/// Call once, before the others.
void startThreadPages(const Config &config, Messages &messages);

/// Has the end of this thread return its large pages; false: no memory. Before
/// signals wait: it allocates, and a fork waits for threads with the heap
/// locked.
bool watchThreadEnd();

/// Lays out a stack of \p bytes, all but its low end on large pages, below the
/// end of \p stack, which is the frame of a new thread. \p stack begins at its
/// start or, if that is 0, where the memory map shows it. \p isCapped: take at
/// most a part of the pool for all such stacks together. Returns the top; 0:
/// the stack is unchanged. Prints differences from the request. pre: in the
/// thread itself; watchThreadEnd(); signals wait; nothing is below the frame.
uintptr_t mapLargePages(Range stack, size_t bytes, bool isCapped);

/// In a child process: puts normal pages in the place of large ones that lie
/// below the frame of this new thread, because its stack was one of the parent.
void leaveParentsPages();

} // namespace mpg
