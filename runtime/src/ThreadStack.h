// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stacks of threads onto large pages: pthread_create is the only function that
// is interposed. glibc still makes, caches and frees the stacks; it is only
// asked for more, and the new thread puts large pages over the untouched inside
// below its own frame before it runs the program's function, on top of them.

#ifndef MPG_RUNTIME_THREADSTACK_H
#define MPG_RUNTIME_THREADSTACK_H

#include "Env.h"
#include "Messages.h"

#include <pthread.h>

namespace mpg {

/// From here on new threads get large pages. Until this call, and after it if
/// \p config says base, pthread_create is passed through unchanged.
/// \p config and \p messages are used as long as there are threads.
void startThreadStacks(const Config &config, Messages &messages);

/// The C library's functions, found by those who interpose them.
struct ThreadCalls {
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  /// What the C library takes from a thread's stack for itself, at most;
  /// nullptr: not known, then the memory map is asked for each new stack.
  size_t (*ownBytes)(const pthread_attr_t *);
};

/// pthread_create with large pages. As soon as anything is not as expected, it
/// is pthread_create without them.
int createThread(const ThreadCalls &calls, pthread_t *thread,
                 const pthread_attr_t *attributes, void *(*function)(void *),
                 void *argument);

/// Puts right what pthread_getattr_np says about a process stack in two parts.
void correctAttributes(pthread_attr_t *attributes);

} // namespace mpg

#endif // MPG_RUNTIME_THREADSTACK_H
