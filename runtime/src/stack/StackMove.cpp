// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copy and the move of a stack, on a small stack of our own: after the copy
// nothing may be written to the old one any more.

#include "stack/StackMove.h"

#include "base/StackSwitch.h"
#include "base/Syscall.h"

#include <signal.h>

using namespace mpg;

namespace {

struct Job {
  StackMove move;
  int error;
};

} // namespace

static void moveOnOwnStack(void *argument) {
  // A copy of its own: the argument is on the stack that goes away.
  Job job = *static_cast<Job *>(argument);
  StackMove &move = job.move;
  if (!move.live.empty())
    copyPages(move.away.range.start + (move.live.start - move.target),
              move.live.start, move.live.bytes());
  job.error = moveInto(move.away, move.target, move.granuleBytes);
  *static_cast<Job *>(argument) = job;
}

int mpg::moveStack(StackMove &move) {
  alignas(16) static char ownStack[64 << 10];
  Job job{move, 0};
  uint64_t all = ~uint64_t(0), before;
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&all), long(&before),
          sizeof all);
  mpg_call_on_stack(ownStack + sizeof ownStack, moveOnOwnStack, &job);
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&before), 0, sizeof before);
  move = job.move;
  return job.error;
}
