// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stack of the process onto large pages, before main.

#pragma once

#include "base/Env.h"
#include "base/Messages.h"
#include "base/Range.h"
#include "pages/Pages.h"

/// Whether libmpg calls main (Interpose.cpp). Not in static programs.
extern "C" __attribute__((weak, visibility("hidden"))) bool mpg_calls_main();

namespace mpg {

/// Moves the process stack: all of it if the range above it is free, else the
/// part below its first border of large pages. Its limit, its guard and its
/// contents stay. On failure the stack is unchanged and one line prints the
/// reason.
///
/// A limit of at most 64 MiB is met with large pages in full, a higher one with
/// at least 64 MiB and at most a quarter of the remaining pages; without a
/// limit it is 64 MiB. Below that the stack grows on normal pages. pre: called
/// on the process stack by the only thread. \p threads: of the process, now.
void remapStack(const Config &config, Messages &messages, unsigned threads);

/// Where the first frame of main has to lie, so that the stack is on large
/// pages from there on; 0: wherever it is.
uintptr_t mainBegins();

/// The whole process stack where the C library knows only a part: it takes the
/// mapping with the first frame for all of the stack, and its end for the
/// stack's. \p reported is the C library's answer, returned unchanged for any
/// other stack.
Range findWholeStack(Range reported);

/// Page size for stacks when the program's is \p hugeBytes.
constexpr size_t stackHugePageBytes(size_t hugeBytes) {
  // A page of 512 MiB for each thread would be no help to anybody.
  return hugeBytes <= 32 << 20 ? hugeBytes : hugeFrameBytes;
}

using Main = int(int, char **, char **);

/// The function that the C library calls in place of \p main. It calls \p main
/// further down the stack if mainBegins() asks for that by then. pre: once a
/// process. Works before a static program is initialised.
Main *mainOnLargePages(Main *main);

// Its limit (StackLimit.cpp)

/// A stack as Stack.cpp has left it.
struct PlacedStack {
  uintptr_t end = 0; ///< the top, as the kernel has made it or main sees it
  Range large;
  size_t hugePageBytes = 0;
  bool isWhole = false;  ///< the large part reaches above the top
  bool grows = false;    ///< on normal pages below the large part
  uintptr_t grownTo = 0; ///< the kernel's own, grown to here; 0: moved
};

/// Unused large pages of a stack take at most this part of the remainder of a
/// memory limit.
constexpr unsigned stackShareOfLimit = 32;

/// From here on the stack is \p stack. pre: one thread.
void watchStackLimit(const PlacedStack &stack);

/// The limit may have changed. Raised above the large part, the stack grows
/// below it; lowered, whole pages that are below the limit and not in use
/// cannot be touched any more, until it is raised again. In a child, which may
/// run on the memory of its parent, it is only raised.
void applyStackLimit();

/// Call when a memory limit may have been set: if it is near, the stack returns
/// its unused part and grows on normal pages instead.
void applyMemoryLimit();

/// Returns the unused part of a stack on transparent pages, which grows on
/// normal pages instead. Does nothing on the stack of another thread.
void releaseThpStack();

/// Call before dlopen() of the file \p library: makes the stack executable
/// where the C library would miss a part of it, if the file asks for that.
void allowCodeOnStack(const char *library);

/// The C library makes all stacks executable: the program asks for that.
void allowCodeOnStacks();

/// The rights of memory that replaces a part of any stack.
int stackRights();

/// The stack if it is on transparent pages and so grew before it was needed;
/// else empty.
Range getThpStack();

// The move itself (StackMove.cpp). Replaces the memory under the stack in use,
// from the calling thread itself. Also holds the address space around a stack
// free while it moves, and decides what is below it afterwards. Also moves the
// program's arguments and environment, which are on the stack and from which
// the kernel serves /proc/PID/cmdline and environ (ps, pgrep).

/// New memory for the stack in use, or for a part that lies below it.
struct StackMove {
  Staged staged;    ///< gone after success
  Range live;       ///< what is copied, whole base pages; empty: nothing
  uintptr_t target; ///< where the new memory goes
  size_t hugePageBytes;
};

/// Moves; all or nothing as moveInto(). Signals wait meanwhile. pre: no other
/// thread writes to the live part; one thread at a time.
int moveStack(StackMove &move);

/// RLIMIT_STACK in bytes; UINT64_MAX for no limit, 0 if the kernel does not
/// report it (seccomp): then the stack may end anywhere.
uint64_t stackLimitBytes();

/// The distance that the kernel itself keeps below a growing stack.
size_t guardGapBytes();

/// Reserves free address space, without access, so that no other code maps
/// anything there. False, with nothing changed, if any of it is in use or
/// beyond the end of the address space. An empty range is free.
bool holdPlace(Range place);

void releasePlace(Range place);

/// Whether \p place is free and the process may have as much more memory: 0,
/// EEXIST or ENOMEM. Holds nothing.
int tryPlace(Range place);

/// Whether the process may have \p bytes more of address space and memory. The
/// growth of a stack has no other way to say no than SIGSEGV.
bool mayMapMore(size_t bytes);

/// Makes the stack in use grow down to \p border, a page border below the stack
/// pointer. pre: nothing lies there, the stack's limit allows it, mayMapMore().
void stretchStackTo(uintptr_t border);

/// Normal pages below \p top that grow downwards on their own, as the kernel's
/// stack does, up to RLIMIT_STACK. Replaces what is held directly below.
bool mapGrowingBelow(uintptr_t top);

/// Size that mapGrowingBelow() begins with.
constexpr size_t growingStartBytes = 128 << 10;

/// Whether the kernel lets moveArguments() do its work. Changes nothing.
bool canMoveArguments();

/// Moves the strings of argv and environ to normal pages outside of the stack,
/// and updates the kernel and the two arrays. The old strings stay as well, for
/// code that holds pointers to them. False: nothing has changed. pre:
/// canMoveArguments().
bool moveArguments();

} // namespace mpg
