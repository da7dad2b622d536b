// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// callBelow: wherever the top lies, the function begins at or below it, and not
// far below.

#include "base/StackSwitch.h"
#include <gtest/gtest.h>

using namespace mpg;

static void *ownFrame(void *) { return __builtin_frame_address(0); }

TEST(StackStep, BeginsBelowEveryTop) {
  auto here = uintptr_t(__builtin_frame_address(0));
  // Whole steps are 512 KiB; the remainder of one used to be wrong.
  for (size_t steps = 0; steps < 5; ++steps)
    for (size_t rest = 16; rest <= 4096; rest += 16) {
      uintptr_t top = here - steps * (512 << 10) - rest;
      auto frame = uintptr_t(callBelow(top, ownFrame, nullptr));
      EXPECT_LE(frame, top) << steps << " steps and " << rest;
      EXPECT_GT(frame, top - 4096) << steps << " steps and " << rest;
    }
}

TEST(StackStep, StaysWhereItIsWithoutTop) {
  auto here = uintptr_t(__builtin_frame_address(0));
  auto frame = uintptr_t(callBelow(0, ownFrame, nullptr));
  EXPECT_LT(frame, here);
  EXPECT_GT(frame, here - 4096);
}
