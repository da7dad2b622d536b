// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LargeStacks.h.

#include "stack/LargeStacks.h"

#include "pages/LargeMemory.h"

using namespace mpg;

namespace {

struct StackWatch {
  Range processStack;
  size_t granuleBytes = 0;
  Messages *messages = nullptr;
};

} // namespace

static StackWatch watch;

void mpg::setThreadStack(Range large) {
  noteLargeMemory(large, watch.granuleBytes);
}

void mpg::stacksHaveLeft(ThpBytes thpBytes, const void *context) {
  Range stack = watch.processStack;
  if (!stack.empty())
    watch.messages->region(MPG_REGION_STACK, stack, thpBytes(context, stack),
                           watch.granuleBytes, movedByForkReason);
  watch.processStack = Range{};
}

void mpg::noteLargeStack(Range processStack, size_t granuleBytes,
                         Messages &messages) {
  watch = {processStack, granuleBytes, &messages};
  noteLargeMemory(processStack, granuleBytes);
}
