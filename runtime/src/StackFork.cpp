// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fork() and the stack that it is called on, which both processes write to at
// once, before fork() returns (what the danger is stands in Fork.cpp):
//
//   before, in the parent   asks for the pages that will be written to. If they
//                           cannot be had, a program of one thread moves its
//                           stack back to normal pages; one line says so
//   after, in the child     moves the stack back to normal pages: most children
//                           exec soon, and the others are safe for good
//
// The child of a program of several threads has one thread, so this is safe in
// every child; in a parent of several threads it is not, because others may be
// writing to this stack: it gets the line only. A copy for the child (as of the
// segments) would come too late: the child is on the shared stack at once.

#include "StackFork.h"

#include "ForkPages.h"
#include "Pages.h"
#include "SelfMaps.h"
#include "Shortage.h"
#include "StackMove.h"

#include <errno.h>

using namespace mpg;

namespace {

struct StackWatch {
  Range processStack;
  size_t granuleBytes = 0;
  Messages *messages = nullptr;
};

} // namespace

static StackWatch watch;

// initial-exec: reading it never allocates.
static thread_local Range threadStack
    __attribute__((tls_model("initial-exec")));

void mpg::setThreadStack(Range large) { threadStack = large; }

/// The large part of the stack in use; empty if that is none of ours.
static Range stackInUse() {
  auto here = uintptr_t(__builtin_frame_address(0));
  // A parted stack may be in its upper part still.
  constexpr uintptr_t firstPartBytes = 64 << 20;
  Range main = watch.processStack;
  if (here >= main.start && here < main.end + firstPartBytes && !main.empty())
    return main;
  return threadStack;
}

/// Begins the line before anything is given back, while the cause is there.
static void addNoPages(LineBuffer &line, size_t bytes, bool willMove) {
  line.add("fork: no large pages for the child to write to its stack; cost: ")
      .add(willMove ? "the process stack goes back to normal pages"
                    : "parent or child may die of SIGBUS")
      .add("; cause: ");
  explainShortage(line, Source::hugetlb, watch.granuleBytes, bytes, ENOMEM);
}

StackAtFork mpg::stackAtFork() {
  StackAtFork stack;
  stack.range = stackInUse();
  size_t granule = stack.granuleBytes = watch.granuleBytes;
  if (stack.range.empty())
    return stack;
  // From the granule with the frame in use to the top, and one below it.
  uintptr_t low =
      roundDown(uintptr_t(__builtin_frame_address(0)), granule) - granule;
  low = low < stack.range.start ? stack.range.start : low;
  stack.bytes = low < stack.range.end ? stack.range.end - low : granule;
  return stack;
}

void mpg::prepareStack(const StackAtFork &stack) {
  size_t granule = watch.granuleBytes;
  if (stack.range.empty() || pagesCanBeHad(stack.bytes, granule))
    return;
  bool willMove =
      stack.range.start == watch.processStack.start && threadCount() == 1;
  LineBuffer line;
  addNoPages(line, stack.bytes, willMove);
  if (willMove && !moveStackToNormalPages(stack.range, granule)) {
    watch.processStack = Range{};
    watch.messages->region(MPG_REGION_STACK, stack.range, 0, granule,
                           "a fork found no large pages for the child");
  }
  watch.messages->say(MPG_MSG_FORK, line);
}

void mpg::stackInChild() {
  Range stack = stackInUse();
  if (!stack.empty() && !moveStackToNormalPages(stack, watch.granuleBytes)) {
    threadStack = Range{};
    watch.processStack = Range{};
  }
}

void mpg::watchForks(Range processStack, size_t granuleBytes,
                     Messages &messages) {
  watch.processStack = processStack;
  watch.granuleBytes = granuleBytes;
  watch.messages = &messages;
  handleForks();
}
