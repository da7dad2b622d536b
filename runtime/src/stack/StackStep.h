// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function whose first frame lies further down the stack in use, because the
// large pages begin there.

#ifndef MPG_RUNTIME_STACKSTEP_H
#define MPG_RUNTIME_STACKSTEP_H

#include <stdint.h>

namespace mpg {

/// Calls the function with its frame at \p top or below; 0: wherever it is.
/// Unwinding goes through. pre: the stack reaches from here to below \p top.
void *callBelow(uintptr_t top, void *(*function)(void *), void *argument);

} // namespace mpg

#endif // MPG_RUNTIME_STACKSTEP_H
