// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fork() and hugetlb pages: parent and child share every private page until one
// of them writes to it, which then takes a new page of the pool. If there is
// none, the kernel takes the page away from the child, or ends a child that
// writes, with SIGBUS. And what the parent has only reserved is not reserved
// for the child. On normal pages none of that can happen, so:
//
//   before, in the parent   locks the heap; asks whether the pages can be had
//                           (ForkPlan.cpp); if not, makes ready what helps
//   after, in the parent    gives back what was made ready
//   after, in the child     puts it in place
//
// We register in our constructor, before nearly everybody else: then the first
// of these steps is the last thing to happen before the fork, and the others
// are the first after it. From the first to the last signals wait and no other
// thread forks: a handler that forks would meet its own half-made copy.
//
// vfork() and posix_spawn() (and system() and popen(), which use it) share
// memory and are no danger; they do not come here. Nor does _Fork().

#include "Fork.h"

#include "ForkPlan.h"
#include "Heap.h"
#include "Syscall.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

using namespace mpg;

// glibc's, exported for its old C++ streams.
extern "C" void _IO_list_lock() __attribute__((weak));
extern "C" void _IO_list_unlock() __attribute__((weak));

namespace {

struct Forks {
  bool registered = false;
  bool isChild = false;    ///< of a fork() with this library in it
  bool hasStreams = false; ///< the lock of the list of streams
  uint32_t owner = 0;      ///< of the lock: process id, 0 when it is free
  uint64_t signals = 0;    ///< blocked before; the owner's
  int errorNumber = 0;     ///< the program's; the owner's
};

} // namespace

static Forks forks;

bool mpg::isForkedChild() { return forks.isChild; }

/// What another process has is a copy of its lock, and nobody's here.
static void lock() {
  auto self = uint32_t(rawCall(SYS_getpid));
  for (uint32_t holder = 0;
       !__atomic_compare_exchange_n(&forks.owner, &holder, self, /*weak=*/false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);) {
    if (holder != self)
      continue; // and take it from there
    rawCall(SYS_sched_yield);
    holder = 0;
  }
}

static void enter() {
  int errorNumber = errno;
  uint64_t all = ~uint64_t(0), before = 0;
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&all), long(&before),
          sizeof all);
  lock();
  forks.signals = before;
  forks.errorNumber = errorNumber;
}

static void leave() {
  int errorNumber = forks.errorNumber;
  uint64_t before = forks.signals;
  __atomic_store_n(&forks.owner, 0, __ATOMIC_RELEASE);
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&before), 0, sizeof before);
  errno = errorNumber;
}

/// fork() takes the lock of the list of streams after us, and who has it may be
/// waiting for a stream whose owner waits for the heap: so before the heap.
/// Recursive; in the child the C library makes it free.
static void lockStreams() {
  forks.hasStreams = &_IO_list_lock && !HeapLock::isOnlyThread();
  if (forks.hasStreams)
    _IO_list_lock();
}

static void unlockStreams() {
  if (forks.hasStreams)
    _IO_list_unlock();
}

static void beforeFork() {
  enter();
  lockStreams();
  lockHeap();
  prepareFork();
}

static void inParent() {
  finishForkInParent();
  unlockHeap();
  unlockStreams();
  leave();
}

static void inChild() {
  forks.isChild = true;
  finishForkInChild();
  restartHeapInChild();
  leave();
}

void mpg::handleForks() {
  if (forks.registered)
    return;
  forks.registered = true;
  pthread_atfork(beforeFork, inParent, inChild);
}
