// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fork() and .data, .bss and heap (what the danger is stands in Fork.cpp):
//
//   before, in the parent   asks whether the pages can be had that the child
//                           may write to, or earlier children still: one
//                           question for all of it and the stack, because they
//                           share one pool. If not, a copy on normal pages is
//                           made, of what is present
//   after, in the child     moves the copy over the large pages
//   after, in the parent    waits for that, gives the copy back, and keeps its
//                           large pages
//
// A parent that owns its pages never dies for want of one: the kernel takes the
// page from the child. Nor does a child with a copy miss it.
//
// The question is asked at the fork, and nothing can be kept for the child:
// pages that other programs take between that and its writes are lacking then.
// Its own relatives leave it as many as it needs (largePagesAreSpare): heaps
// that grow after a fork are nothing unusual.

#include "ForkPlan.h"

#include "Fork.h"
#include "ForkCopy.h"
#include "ForkFamily.h"
#include "ForkPages.h"
#include "ForkShortage.h"
#include "ForkSignal.h"
#include "ForkWait.h"
#include "HeapFork.h"
#include "HeapSpace.h"
#include "SegmentFork.h"
#include "SelfMaps.h"
#include "StackFork.h"

using namespace mpg;

namespace {

struct Plan {
  size_t granuleBytes = 0;
  Messages *messages = nullptr;
  Source copySource = Source::normal;
  bool untouched = false; ///< not all of it is sure to be present
  /// Processes that may still share pages: all relatives since it was last
  /// seen that there is none.
  uint64_t sharers = 0;
  uint64_t countedAt = 0; ///< second of the last count outside of a fork
  ForkList list;          ///< of the fork that is under way
  ForkCopy copy;
  bool copied = false; ///< there is, or was, a copy for this fork
};

/// What is present of each, and what all of it takes.
struct Question {
  uint64_t segmentBytes = 0, heapBytes = 0;
  uint64_t promisedBytes = 0; ///< to earlier children
  uint64_t needBytes = 0;     ///< with that
};

/// What was done in a shortage.
struct Answer {
  bool wentBack = false, copied = false, isSafe = true;
  bool stackStays = false; ///< in the heap, where the child cannot do without
};

} // namespace

static Plan plan;

void mpg::planForks(const Config &config, Paging paging, Messages &messages) {
  plan.granuleBytes = config.hugeBytes;
  plan.messages = &messages;
  plan.untouched |= paging == Paging::demand;
  bool thpToo = config.mode == Mode::automatic && thpIsAllowed();
  plan.copySource = thpToo ? Source::thp : Source::normal;
  handleForks();
}

static bool isHeap(ForkOwner owner) { return owner == ForkOwner::heap; }
static bool isAny(ForkOwner) { return true; }

//===----------------------------------------------------------------------===//
// The question
//===----------------------------------------------------------------------===//

/// Exact numbers, of what is present. \p mostBytes: of what there can be.
static Question countPages(uint64_t mostBytes) {
  Needs segments = plan.list.needsOf(ForkOwner::segments, plan.granuleBytes);
  Needs heap = plan.list.needsOf(ForkOwner::heap, plan.granuleBytes);
  Question question;
  question.segmentBytes = segments.presentBytes;
  question.heapBytes = heap.presentBytes;
  uint64_t present = segments.presentBytes + heap.presentBytes;
  uint64_t shared = segments.sharedBytes + heap.sharedBytes;
  plan.untouched |= present < mostBytes;
  if (!shared)
    plan.sharers = 0;
  question.promisedBytes = shared * plan.sharers;
  question.needBytes = present + question.promisedBytes;
  promiseInFamily(question.promisedBytes);
  return question;
}

//===----------------------------------------------------------------------===//
// If the answer is no
//===----------------------------------------------------------------------===//

static void noteMoved(const ForkStretch &piece, Source source) {
  if (piece.owner == ForkOwner::heap)
    heapSpace.setSource(piece.range, source);
}

static void moveCopyIn() {
  if (!plan.copy.exists())
    return;
  bool all = plan.copy.moveIn(noteMoved);
  bool none = all && !segmentsHoldLibraries();
  plan.sharers = none ? 0 : plan.sharers + 1;
  if (none)
    segmentsHaveLeft();
  plan.list.discard();
}

/// All of what \p wanted says yes to, or nothing.
static bool makeCopy(bool (*wanted)(ForkOwner), uint64_t presentBytes) {
  if (!memoryCanBeHad(presentBytes) ||
      plan.copy.make(plan.list, wanted, plan.copySource, plan.granuleBytes))
    return false;
  plan.copied = true;
  openForkWait();
  catchBusErrors(moveCopyIn);
  return true;
}

/// What is in no danger any more is not in the list either.
static bool leaveStackInHeap() {
  if (!heapSpace.range().contains(uintptr_t(__builtin_frame_address(0))))
    return true;
  bool isSafe = moveHeapStack(plan.list);
  plan.list.discard();
  return plan.list.find() && isSafe;
}

/// \p besides: what the stack needs.
static Answer meetShortage(const Question &question, uint64_t besides) {
  Answer answer;
  answer.stackStays = !leaveStackInHeap();
  answer.isSafe = !answer.stackStays;
  if (!segmentsHoldLibraries()) {
    answer.copied = makeCopy(isAny, question.segmentBytes + question.heapBytes);
    answer.isSafe &= answer.copied;
    return answer;
  }
  answer.wentBack = question.segmentBytes && threadCount() == 1 &&
                    !segmentsGoBack(plan.list, plan.copySource);
  answer.isSafe &= answer.wentBack || !question.segmentBytes;
  uint64_t stillNeeded = question.needBytes - question.segmentBytes;
  if (!question.heapBytes ||
      (answer.wentBack &&
       pagesCanBeHad(stillNeeded + besides, plan.granuleBytes)))
    return answer;
  answer.copied = makeCopy(isHeap, question.heapBytes);
  answer.isSafe &= answer.copied;
  return answer;
}

/// ".data and .bss (40 MiB) and the heap (8 MiB)"
static void addWhat(LineBuffer &line, const Question &question) {
  if (question.segmentBytes)
    line.add(".data and .bss (").addBytes(question.segmentBytes).add(")");
  if (question.segmentBytes && question.heapBytes)
    line.add(" and ");
  if (question.heapBytes)
    line.add("the heap (").addBytes(question.heapBytes).add(")");
}

static void addCost(LineBuffer &line, const Question &question,
                    const Answer &answer) {
  const char *what = question.segmentBytes ? "them" : "it";
  if (!answer.isSafe) {
    bool isStuck = segmentsHoldLibraries() && threadCount() > 1;
    line.add("the child may die of SIGBUS, for ")
        .add(isStuck
                 ? "a static program with threads cannot leave its large pages"
             : answer.stackStays
                 ? "its stack is a block of the heap and there are threads"
                 : "there is no memory for a copy either");
  } else if (!answer.wentBack) {
    line.add("every fork copies ")
        .add(what)
        .add(" to normal pages for the child");
  } else {
    line.add("they go back to normal pages (more TLB misses)");
    if (answer.copied)
      line.add(", and every fork copies the heap for the child");
  }
}

static void meetAndTell(const Question &question, uint64_t besides) {
  ForkShortage shortage(question.needBytes + besides, plan.granuleBytes);
  Answer answer = meetShortage(question, besides);
  LineBuffer line;
  line.add("fork: no large pages for the child to write to ");
  addWhat(line, question);
  line.add("; cost: ");
  addCost(line, question, answer);
  shortage.say(line, answer.isSafe, *plan.messages);
}

//===----------------------------------------------------------------------===//
// The steps
//===----------------------------------------------------------------------===//

/// Whether \p bytes can be had, of which \p besides are for the stack, without
/// taking what relatives have promised each other. Then they are promised.
static bool promisePages(uint64_t bytes, uint64_t besides) {
  uint64_t others = promisedInFamily() - ownPromise();
  if (!pagesCanBeHad(bytes + others + besides, plan.granuleBytes))
    return false;
  promiseInFamily(bytes);
  return true;
}

/// Returns whether it is sure that the stack's pages, too, can be had.
static bool prepareShared(const StackAtFork &stack) {
  uint64_t bytes = segmentHugeBytes() + heapSpace.mapped().huge;
  if (!bytes)
    return false;
  foundFamily();
  bool together = stack.granuleBytes == plan.granuleBytes;
  uint64_t besides = together ? stack.bytes : 0;
  // A child does not own what it shares with its parent and with its child.
  uint64_t most = bytes * (1 + plan.sharers);
  // Most children end soon: see from time to time whether any still shares, or
  // a child would take over a number that is far too large.
  constexpr uint64_t manySharers = 8;
  if (plan.sharers < manySharers && promisePages(most, besides))
    return together;
  bool complete = plan.list.find();
  Question question = countPages(bytes);
  if (complete && question.needBytes <= most &&
      promisePages(question.needBytes, besides))
    return together;
  if (question.segmentBytes + question.heapBytes)
    meetAndTell(question, besides);
  return false;
}

/// pre: the heap is locked.
static bool arePagesSpare(uint64_t bytes) {
  if (pagesCanBeHad(bytes + promisedInFamily(), plan.granuleBytes))
    return true;
  // What is promised may be done with: nobody shares it any more.
  if (!ownPromise() || plan.countedAt == secondsNow())
    return false;
  plan.list.find();
  countPages(segmentHugeBytes() + heapSpace.mapped().huge);
  plan.list.discard();
  plan.countedAt = secondsNow();
  return pagesCanBeHad(bytes + promisedInFamily(), plan.granuleBytes);
}

bool mpg::largePagesAreSpare(uint64_t bytes) {
  if (!promisedInFamily())
    return true;
  heapSpace.lockAll(); // and no fork meanwhile
  bool spare = arePagesSpare(bytes);
  heapSpace.unlockAll(/*inChild=*/false);
  return spare;
}

void mpg::prepareFork() {
  StackAtFork stack = stackAtFork();
  if (prepareShared(stack))
    return plan.list.discard();
  bool isSame = stack.granuleBytes == plan.granuleBytes;
  prepareStack(stack, isSame ? promisedInFamily() : 0);
  if (!plan.copy.exists())
    plan.list.discard();
}

void mpg::finishForkInParent() {
  plan.countedAt = 0;
  if (!plan.copied) {
    ++plan.sharers;
    return;
  }
  awaitChild();
  releaseBusErrors();
  plan.copy.discard();
  plan.list.discard();
  plan.copied = false;
}

/// A child that shares large pages with its parent.
static void goOnSharing() {
  ++plan.sharers; // and all that the parent shares with
  if (!plan.untouched || !(segmentHugeBytes() + heapSpace.mapped().huge))
    return;
  plan.list.find();
  replaceUntouched(plan.list, plan.copySource, plan.granuleBytes, noteMoved);
  plan.list.discard();
}

void mpg::finishForkInChild() {
  plan.countedAt = 0;
  beginAsChild();
  if (plan.copied) {
    moveCopyIn(); // if no signal has done it
    releaseBusErrors();
    tellParent();
    plan.copied = false;
  } else {
    goOnSharing();
  }
  stackInChild();
}
