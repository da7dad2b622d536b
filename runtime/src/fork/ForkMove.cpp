// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Piece by piece: copied to new pages, which are moved over the old ones, whose
// page then is free for others. In a static program our own variables may be in
// any piece: nothing is written to them between the copy and the move. All of
// it runs on a stack of its own.

#include "fork/ForkMove.h"

#include "base/StackSwitch.h"
#include "base/Syscall.h"
#include "pages/PagesNuma.h"

#include <errno.h>
#include <initializer_list>
#include <sys/mman.h>

using namespace mpg;

namespace {

struct Job {
  const ForkList *list;
  int error;
};

} // namespace

/// Copies what is not zero: a large page is present to its last byte, and a
/// small program uses little of it. New memory is zero. No
/// call of the C library: its table may be in the piece.
static void copyContents(uintptr_t to, uintptr_t from, size_t bytes) {
  size_t page = basePageBytes();
  for (uintptr_t end = from + bytes; from < end; from += page, to += page)
    if (isFilled(from, page))
      copyPages(to, from, page);
}

/// Large memory is often where its threads are: the one that forks must not
/// become the first to touch it.
static void keepNode(Range away, uintptr_t old) {
  int node = -1;
  if (!nodesOf(old, 1, basePageBytes(), &node) && node >= 0)
    place(away, Placement::prefer, NodeSet::of(node));
}

static int movePiece(Range piece, const ForkStretch &stretch, bool keepsNode,
                     bool touched) {
  const size_t granuleBytes = stretch.granuleBytes;
  Away away;
  if (int error =
          buildAway(stretch.source, piece.bytes(), granuleBytes, nullptr, away))
    return error;
  if (touched && keepsNode)
    keepNode(away.range, piece.start);
  if (touched)
    copyContents(away.range.start, piece.start, piece.bytes());
  int error = moveInto(away, piece.start, granuleBytes,
                       touched ? Contents::copied : Contents::zero);
  if (error)
    discard(away);
  return error;
}

static int moveStretch(const ForkStretch &stretch) {
  const size_t granule = stretch.granuleBytes;
  Range rest = stretch.range;
  // Of memory that is there twice.
  bool hasNodes = allowedNodes().count() > 1;
  size_t mostBytes = hasNodes ? granule : 32 << 20;
  while (!rest.empty()) {
    bool touched;
    size_t bytes = touchedRun(rest, granule, touched);
    if (bytes > mostBytes)
      bytes = roundUp(mostBytes, granule);
    int error =
        movePiece({rest.start, rest.start + bytes}, stretch, hasNodes, touched);
    if (!error)
      rest.start += bytes;
    else if (mostBytes > granule)
      mostBytes = granule; // address space may be short
    else
      return error;
  }
  return 0;
}

int mpg::moveOffLargePages(const ForkStretch &stretch) {
  constexpr int readWrite = PROT_READ | PROT_WRITE;
  int error = moveStretch(stretch);
  if (!error && stretch.rights != readWrite)
    rawCall(SYS_mprotect, long(stretch.range.start),
            long(stretch.range.bytes()), stretch.rights);
  return error;
}

static int moveAll(const Job &job) {
  for (const ForkStretch &stretch : *job.list)
    if (int error = moveOffLargePages(stretch))
      return error;
  return 0;
}

static Away ownStack;

void *mpg::ownStackTop() {
  // For calls of other libraries' handlers, too (ForkCopy.h). The second size
  // where a limit leaves few addresses.
  for (size_t bytes : {size_t(1) << 20, size_t(256) << 10})
    if (ownStack.range.empty())
      buildAway(Source::normal, bytes, basePageBytes(), nullptr, ownStack);
  if (ownStack.range.empty())
    return nullptr;
  return reinterpret_cast<void *>(ownStack.range.end);
}

/// A handler of pthread_atfork that forks may be.
static bool isOnOwnStack() {
  return ownStack.range.contains(uintptr_t(__builtin_frame_address(0)));
}

void mpg::discardOwnStack() {
  if (!isOnOwnStack())
    discard(ownStack);
}

static void moveOnOwnStack(void *argument) {
  // A copy: the argument is on the stack that goes away.
  Job job = *static_cast<Job *>(argument);
  int error = moveAll(job);
  static_cast<Job *>(argument)->error = error;
}

int mpg::moveOffLargePages(const ForkList &list) {
  void *top = ownStackTop();
  if (!top)
    return ENOMEM;
  Job job{&list, 0};
  if (isOnOwnStack())
    return moveAll(job);
  mpg_call_on_stack(top, moveOnOwnStack, &job);
  return job.error;
}
