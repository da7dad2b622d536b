// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the test programs about stacks: goes deep, and prints at once if
// the contents change.

#ifndef DEEP_STACK_H
#define DEEP_STACK_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <unistd.h>

/// Ends the program, child processes and threads included, without running
/// anything of what may be damaged.
static void check(bool good, const char *what) {
  if (good)
    return;
  printf("wrong: %s\n", what);
  fflush(stdout);
  _exit(1);
}

/// Uses the stack down to \p low, page by page, and checks on the way up that
/// every frame is as it was left.
__attribute__((noinline)) static uint64_t recurseTo(uintptr_t low,
                                                    uint64_t seed) {
  volatile uint64_t frame[256];
  for (size_t i = 0; i < 256; i += 64)
    frame[i] = seed + i;
  uint64_t below = 0;
  if (uintptr_t(frame) > low + 4096)
    below = recurseTo(low, seed * 31 + 1);
  for (size_t i = 0; i < 256; i += 64)
    check(frame[i] == seed + i, "a frame changed while others were called");
  return below + frame[0];
}

/// The same for \p bytes below the caller.
static uint64_t recurse(size_t bytes, uint64_t seed) {
  return recurseTo(uintptr_t(__builtin_frame_address(0)) - bytes, seed);
}

#endif // DEEP_STACK_H
