// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces the memory under the stack in use, by the calling thread itself; the
// address space around a stack, which is kept free above and below it while it
// moves, and what lies under it afterwards; and the program's arguments and
// environment, which lie on the stack, where the kernel goes on reading them
// for /proc/PID/cmdline and environ (ps, pgrep).

#ifndef MPG_RUNTIME_STACKMOVE_H
#define MPG_RUNTIME_STACKMOVE_H

#include "base/Range.h"
#include "pages/Pages.h"

namespace mpg {

/// New memory for the stack in use, or for a part that lies below it.
struct StackMove {
  Away away;        ///< gone after success
  Range live;       ///< what is copied, whole base pages; empty: nothing
  uintptr_t target; ///< where the new memory goes
  size_t granuleBytes;
};

/// Moves; all or nothing as moveInto(). Signals wait meanwhile.
/// pre: no other thread writes to the live part; one thread at a time.
int moveStack(StackMove &move);

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

/// Whether the kernel lets moveArguments() do its work. Changes nothing.
bool canMoveArguments();

/// Moves the strings of argv and environ to normal pages outside of the stack
/// and tells the kernel and the two arrays. The old strings stay as well, for
/// those who have pointers to them. False: nothing has changed.
/// pre: canMoveArguments().
bool moveArguments();

} // namespace mpg

#endif // MPG_RUNTIME_STACKMOVE_H
