// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stops all other threads for a moment, so that memory they may write to can be
// copied and replaced without losing a write, of theirs or of the kernel during
// a system call. They wait in a handler of signal 33, which the C library keeps
// for setuid(); programs cannot block it. Calls that any handler interrupts
// with EINTR (poll, nanosleep) are interrupted by this one, too.

#pragma once

namespace mpg {

/// glibc's SIGSETXID. A thread that waits for the one that stops the others
/// must not block it.
constexpr int stopSignal = 33;

/// Threads that /proc lists beside the program's only one belong to an emulator
/// (qemu-aarch64), and must not be stopped while the program has no other. Call
/// once, at the start. Returns the number that /proc lists.
unsigned countThreadsAtStart();

/// False if one of them does not stop within a second: it waits for a child of
/// vfork(), blocks every signal by itself, or a debugger has it; or threads
/// cannot be counted. Then all of them run again. Between the two calls take no
/// lock that another thread may hold. pre: other signals are blocked; one
/// caller at a time.
bool stopOtherThreads();
void resumeOtherThreads();

} // namespace mpg
