// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program's arguments and environment, which lie on the stack, where the
// kernel goes on reading them for /proc/PID/cmdline and environ (ps, pgrep).

#ifndef MPG_RUNTIME_STACKARGUMENTS_H
#define MPG_RUNTIME_STACKARGUMENTS_H

namespace mpg {

/// Whether the kernel lets moveArguments() do its work. Changes nothing.
bool canMoveArguments();

/// Moves the strings of argv and environ to normal pages outside of the stack
/// and tells the kernel and the two arrays. The old strings stay as well, for
/// those who have pointers to them. False: nothing has changed.
bool moveArguments();

} // namespace mpg

#endif // MPG_RUNTIME_STACKARGUMENTS_H
