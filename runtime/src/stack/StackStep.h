// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function, and main above all, whose first frame lies further down the stack
// in use, because the large pages begin there.

#ifndef MPG_RUNTIME_STACKSTEP_H
#define MPG_RUNTIME_STACKSTEP_H

#include <stdint.h>

namespace mpg {

/// Calls the function with its frame at \p top or below; 0: wherever it is.
/// Unwinding goes through. pre: the stack reaches from here to below \p top.
void *callBelow(uintptr_t top, void *(*function)(void *), void *argument);

using Main = int(int, char **, char **);

/// What the C library is to call for \p main: that is called further down the
/// stack if mainBegins() says so by then. pre: once a process. Works before
/// anything of a static program is set up.
Main *mainOnLargePages(Main *main);

} // namespace mpg

#endif // MPG_RUNTIME_STACKSTEP_H
