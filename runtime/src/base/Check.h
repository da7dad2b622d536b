// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Preconditions of the runtime that a build can check. With MPG_CHECKED (the
// preset `checked`, and `asan`) a condition that does not hold prints its text
// and place and traps; in other builds it is not evaluated. Not assert(): that
// allocates, and this library is malloc.

#pragma once

#ifdef MPG_CHECKED

#include <unistd.h>

namespace mpg {

/// Writes \p text, a line, to standard error and ends the process. Not by
/// Syscall.h, which has preconditions itself.
[[noreturn, gnu::noinline, gnu::cold]] inline void failCheck(const char *text) {
  [[maybe_unused]] ssize_t written =
      write(STDERR_FILENO, text, __builtin_strlen(text));
  __builtin_trap();
}

} // namespace mpg

#define MPG_CHECK_TEXT(number) #number
#define MPG_CHECK_LINE(number) MPG_CHECK_TEXT(number)
#define MPG_CHECK(condition)                                                   \
  ((condition)                                                                 \
       ? void()                                                                \
       : mpg::failCheck("libmpg: broken precondition: " #condition             \
                        ", " __FILE__ ":" MPG_CHECK_LINE(__LINE__) "\n"))
#else
#define MPG_CHECK(condition) ((void)0)
#endif
