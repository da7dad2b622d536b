// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg_move_start and mpg_move_wait (<mpg/mpg.h>): one thread for each call runs
// mpg_move, and the wait joins it. Not one thread with a queue: the kernel
// moves for several threads in parallel, and nothing would tell such a thread
// when to end.
//
// Nothing is locked, so that a fork finds none taken. A handle combines the
// number of its start and its index in a table; a wait removes the handle from
// the table, so only one of two waits for the same handle succeeds, even if
// another start reuses the place.
//
// A separate object file: a static program that starts no moves needs no
// threads.

#include "base/Syscall.h"
#include "mpg/mpg.h"
#include "pages/PagesNuma.h"
#include <atomic>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

using namespace mpg;

namespace {

struct Move {
  std::atomic<int64_t> handle; ///< 0: free; -1: a thread waits for it
  std::atomic<bool> isDone;    ///< `error` and `moved` can be read
  bool hasThread;
  long process; ///< a child of it has the table, but not the thread
  pthread_t thread;
  void *start;
  size_t bytes;
  int node, error;
  mpg_moved moved;
};

} // namespace

static Move moves[MPG_MOST_MOVES];

static void *moveAll(void *argument) {
  Move &move = *static_cast<Move *>(argument);
  move.error = mpg_move(move.start, move.bytes, move.node, &move.moved);
  move.isDone.store(true, std::memory_order_release);
  return nullptr;
}

/// Allocates a free place. Returns its handle, 0 if there is none.
static int64_t claimPlace() {
  static std::atomic<int64_t> started;
  int64_t first = (started.fetch_add(1) + 1) * MPG_MOST_MOVES;
  for (int place = 0; place < MPG_MOST_MOVES; ++place) {
    int64_t none = 0;
    if (moves[place].handle.compare_exchange_strong(none, first + place))
      return first + place;
  }
  return 0;
}

/// False if there can be no further thread. It blocks all signals: no handler
/// of the program expects to run there.
static bool startThread(Move &move) {
  // Three times what mpg_move needs; smaller than the stacks that get large
  // pages. The C library's share comes on top.
  constexpr size_t stackBytes = 128 << 10;
  long ownBytes = sysconf(_SC_THREAD_STACK_MIN);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes))
    return false;
  pthread_attr_setstacksize(&attributes,
                            stackBytes + size_t(ownBytes > 0 ? ownBytes : 0));
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&move.thread, &attributes, moveAll, &move);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return error == 0;
}

int64_t mpg_move_start(void *p, size_t bytes, int node) {
  if (node == MPG_NODE_HERE)
    node = nodeHere();
  if (node != MPG_NEXT_TOUCH && !allowedNodes().has(node))
    return -EINVAL;
  int64_t handle = claimPlace();
  if (!handle)
    return -EAGAIN;
  Move &move = moves[handle % MPG_MOST_MOVES];
  move.isDone.store(false, std::memory_order_relaxed);
  move.process = rawCall(SYS_getpid);
  move.start = p;
  move.bytes = bytes;
  move.node = node;
  move.hasThread = startThread(move);
  if (!move.hasThread)
    moveAll(&move);
  return handle;
}

int mpg_move_wait(int64_t handle, mpg_moved *out) {
  Move &move = moves[uint64_t(handle) % MPG_MOST_MOVES];
  int64_t expected = handle;
  mpg_moved moved = {};
  int error = -EINVAL;
  if (handle > 0 && move.handle.compare_exchange_strong(expected, -1)) {
    if (move.hasThread && move.process == rawCall(SYS_getpid)) {
      // A thread that is cancelled in here would keep the place for good.
      int cancelState;
      pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelState);
      pthread_join(move.thread, nullptr);
      pthread_setcancelstate(cancelState, nullptr);
    }
    error = -ESRCH;
    if (move.isDone.load(std::memory_order_acquire)) {
      error = move.error;
      moved = move.moved;
    }
    move.handle.store(0);
  }
  if (out)
    *out = moved;
  return error;
}
