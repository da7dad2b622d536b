// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls a function on another stack, so that the one in use can be replaced
// meanwhile, or further down the same one, because the large pages begin there.

#pragma once

#include <stdint.h>

/// Calls function(argument) with the stack pointer at \p top, then returns to
/// the caller's stack by its address, so the caller continues on whatever
/// memory is then mapped there. Unwinding works (the frame knows both stacks).
/// pre: \p top is a multiple of 16, with memory below it.
extern "C" __attribute__((visibility("hidden"))) void
mpg_call_on_stack(void *top, void (*function)(void *), void *argument);

namespace mpg {

/// Calls the function with its frame at \p top or below; 0: wherever it is.
/// Unwinding goes through. pre: the stack reaches from here to below \p top.
void *callBelow(uintptr_t top, void *(*function)(void *), void *argument);

} // namespace mpg
