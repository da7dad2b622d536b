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
// writing to this stack. What lies below its frames is nobody's, though: that
// part goes back to normal pages, and its large pages are there for the others.
// If it is too little, there is only the line. A copy for the child (as of the
// segments) would come too late: the child is on the shared stack at once.

#include "StackFork.h"

#include "ForkPages.h"
#include "ForkShortage.h"
#include "Pages.h"
#include "SelfMaps.h"
#include "StackMove.h"

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

/// Where the frames in use end, with room for those that come until the fork.
static uintptr_t granuleInUse() {
  constexpr size_t framesBytes = 64 << 10;
  return roundDown(uintptr_t(__builtin_frame_address(0)) - framesBytes,
                   watch.granuleBytes);
}

StackAtFork mpg::stackAtFork() {
  StackAtFork stack;
  stack.range = stackInUse();
  stack.granuleBytes = watch.granuleBytes;
  if (stack.range.empty())
    return stack;
  uintptr_t low = granuleInUse();
  low = low < stack.range.start ? stack.range.start : low;
  stack.bytes =
      low < stack.range.end ? stack.range.end - low : stack.granuleBytes;
  return stack;
}

/// The whole of \p stack back to normal pages. pre: one thread
static bool leaveLargePages(const StackAtFork &stack) {
  if (moveStackToNormalPages(stack.range, stack.granuleBytes))
    return false;
  watch.processStack = Range{};
  threadStack = Range{};
  return true;
}

/// What nobody uses of \p stack; true if that was enough.
static bool leaveUnused(const StackAtFork &stack, uint64_t needBytes) {
  Range unused{stack.range.start, granuleInUse()};
  Away away;
  if (unused.empty() || unused.end > stack.range.end ||
      buildAway(Source::normal, unused.bytes(), stack.granuleBytes, nullptr,
                away))
    return false;
  if (moveInto(away, unused.start, stack.granuleBytes, Contents::zero)) {
    discard(away);
    return false;
  }
  Range &watched = stack.range.start == watch.processStack.start
                       ? watch.processStack
                       : threadStack;
  watched.start = unused.end;
  return pagesCanBeHad(needBytes, stack.granuleBytes);
}

void mpg::prepareStack(const StackAtFork &stack, uint64_t promisedBytes) {
  uint64_t needBytes = stack.bytes + promisedBytes;
  if (stack.range.empty() || pagesCanBeHad(needBytes, stack.granuleBytes))
    return;
  ForkShortage shortage(needBytes, stack.granuleBytes);
  LineBuffer line;
  bool isProcess = stack.range.start == watch.processStack.start;
  bool isSafe = true;
  line.add("fork: no large pages for the child to write to its stack; cost: ");
  if (threadCount() == 1 && leaveLargePages(stack)) {
    line.add("the process stack goes back to normal pages");
  } else if (leaveUnused(stack, needBytes)) {
    line.add("what is free of the stack goes back to normal pages");
  } else {
    isSafe = false;
    line.add("the child may die of SIGBUS");
  }
  if (isProcess)
    watch.messages->region(MPG_REGION_STACK, stack.range,
                           watch.processStack.bytes(), stack.granuleBytes,
                           "a fork found no large pages for the child");
  shortage.say(line, isSafe, *watch.messages);
}

void mpg::stackInChild() {
  Range stack = stackInUse();
  if (!stack.empty() && !moveStackToNormalPages(stack, watch.granuleBytes)) {
    threadStack = Range{};
    watch.processStack = Range{};
  }
}

void mpg::processStackBeginsAt(uintptr_t start) {
  if (watch.processStack.start < start)
    watch.processStack.start = start;
}

void mpg::watchForks(Range processStack, size_t granuleBytes,
                     Messages &messages) {
  watch.processStack = processStack;
  watch.granuleBytes = granuleBytes;
  watch.messages = &messages;
  handleForks();
}
