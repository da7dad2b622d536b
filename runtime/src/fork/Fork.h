// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fork() in a program with memory on hugetlb pages.

#pragma once

#include "base/Env.h"
#include "base/Messages.h"

#include <sys/types.h>

namespace mpg {

/// Starts watching every fork(). Call once, before any memory is on large
/// pages.
void watchForks(const Config &config, Messages &messages);

/// Whether a function calls the handlers of pthread_atfork.
enum class ForkHandlers { called, none };

/// Calls \p real, a function that forks, once that is safe. Returns -1 with
/// ENOMEM, without a child, if it cannot be made safe. Calls \p real on another
/// stack if necessary.
pid_t forkSafely(pid_t (*real)(), ForkHandlers handlers);

/// The same for functions that fork later, on the caller's stack. Returns 0, or
/// ENOMEM if that is not safe.
int prepareForChild();

/// Before the process gets another root folder, which may have no /proc: later
/// forks would not know what to move. Moves all off the pool, for good.
void prepareForRoot();

} // namespace mpg
