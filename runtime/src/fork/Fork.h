// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fork() in a program with memory on hugetlb pages.

#ifndef MPG_RUNTIME_FORK_H
#define MPG_RUNTIME_FORK_H

#include "base/Env.h"
#include "base/Messages.h"

#include <sys/types.h>

namespace mpg {

/// From here on every fork() is watched. Call once, before there is memory on
/// large pages.
void watchForks(const Config &config, Messages &messages);

/// Whether a function calls the handlers of pthread_atfork.
enum class ForkHandlers { called, none };

/// Calls \p real, a function that makes a child by fork(), when that is safe.
/// Returns -1 with ENOMEM, without a child, if it cannot be made so. \p real is
/// called on another stack if need be.
pid_t forkSafely(pid_t (*real)(), ForkHandlers handlers);

/// The same for functions that only make a child in the end, and do so on the
/// stack they are called on. Returns 0, or ENOMEM if that is not safe.
int prepareForChild();

} // namespace mpg

#endif // MPG_RUNTIME_FORK_H
