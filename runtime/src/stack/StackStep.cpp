// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With alloca, because then the unwinder knows the way back (cancellation and
// pthread_exit unwind). In steps, because valgrind takes a step of 2 MB for a
// change to another stack. What is stepped over is not touched.

#include "stack/StackStep.h"

#include <stddef.h>

using namespace mpg;

__attribute__((noinline)) void *
mpg::callBelow(uintptr_t top, void *(*function)(void *), void *argument) {
  constexpr size_t stepBytes = 512 << 10;
  auto at = uintptr_t(__builtin_frame_address(0));
  while (top && at > top) {
    size_t bytes = at - top;
    void *step = __builtin_alloca(bytes < stepBytes ? bytes : stepBytes);
    __asm__ volatile("" : : "r"(step) : "memory");
    at = uintptr_t(step);
  }
  return function(argument);
}
