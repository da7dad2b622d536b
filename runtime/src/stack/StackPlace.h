// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The address space around a stack: what is kept free above and below it while
// it moves, and what lies under it afterwards.

#ifndef MPG_RUNTIME_STACKPLACE_H
#define MPG_RUNTIME_STACKPLACE_H

#include "base/Range.h"

namespace mpg {

/// RLIMIT_STACK in bytes; UINT64_MAX if there is no limit.
uint64_t stackLimitBytes();

/// The distance that the kernel itself keeps below a growing stack.
size_t guardGapBytes();

/// Takes free address space so that nobody else maps anything there; it is not
/// accessible. False if any of it is in use or beyond the end of the address
/// space; then nothing has changed. An empty range is free.
bool holdPlace(Range place);

void releasePlace(Range place);

/// Whether the process may have \p bytes more of address space and memory. The
/// growth of a stack has no other way to say no than SIGSEGV.
bool mayMapMore(size_t bytes);

/// Touches the growing stack in use down to \p border, a page border below the
/// stack pointer. pre: nothing lies there, the stack's limit allows it,
/// mayMapMore().
void growStackTo(uintptr_t border);

/// Normal pages below \p top that grow downwards on their own, as the kernel's
/// stack does, up to RLIMIT_STACK. Replaces what is held directly below.
bool mapGrowingBelow(uintptr_t top);

/// Size that mapGrowingBelow() begins with.
constexpr size_t growingStartBytes = 128 << 10;

} // namespace mpg

#endif // MPG_RUNTIME_STACKPLACE_H
