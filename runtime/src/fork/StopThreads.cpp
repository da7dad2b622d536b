// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the stopped threads and compares with the list in /proc until that has
// no new thread: a running thread can start another. A late signal meets the
// handler outside of a stop and does nothing, so the handler stays installed.
// The C library's own signals of this number go to its handler.
//
// The word that the threads wait for has a separate mapping, never in memory
// that is replaced, and nothing is written to a waiting thread's stack.

#include "fork/StopThreads.h"

#include "base/FutexLock.h"
#include "base/SelfMaps.h"
#include "base/Syscall.h"
#include "pages/Pages.h"

#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <time.h>

using namespace mpg;

namespace {

/// As the kernel has it; the C library's sigaction() refuses this number.
struct KernelAction {
  void (*handler)(int, siginfo_t *, void *);
  unsigned long flags;
  void (*restorer)();
  uint64_t mask;
};

constexpr size_t maxThreads = 32768;

struct Stop {
  std::atomic<uint32_t> phase;   ///< odd: a stop
  std::atomic<uint32_t> stopped; ///< threads that wait in this one
  KernelAction before;           ///< the C library's
  uint32_t process;
  size_t count;
  int asked[maxThreads];
};

} // namespace

static Stop *stop = nullptr;
static unsigned threadsAtStart = 1;

unsigned mpg::countThreadsAtStart() {
  // The kernel makes files for each process that asks for its threads. The C
  // library knows that it has started none; no other constructor has run.
  threadsAtStart = 1;
  return FutexLock::isOnlyThread() ? 1 : threadCount();
}

static bool isAlone() {
  return FutexLock::isOnlyThread() && threadCount() == threadsAtStart;
}

static void waitForEnd(int number, siginfo_t *info, void *context) {
  Stop *mine = stop;
  if (info->si_code != SI_QUEUE || info->si_value.sival_ptr != mine) {
    auto before = mine->before.handler;
    if (uintptr_t(before) > 1) // neither SIG_DFL nor SIG_IGN
      before(number, info, context);
    return;
  }
  uint32_t phase = mine->phase.load(std::memory_order_acquire);
  if (phase % 2 == 0 || mine->process != uint32_t(rawCall(SYS_getpid)))
    return;
  mine->stopped.fetch_add(1, std::memory_order_release);
  rawCall(SYS_futex, long(&mine->stopped), FUTEX_WAKE_PRIVATE, 1);
  while (mine->phase.load(std::memory_order_acquire) == phase)
    rawCall(SYS_futex, long(&mine->phase), FUTEX_WAIT_PRIVATE, phase, 0);
}

#if defined(__x86_64__)
extern "C" __attribute__((visibility("hidden"))) void mpg_return_from_signal();
__asm__(R"(
  .pushsection .text.mpg_return_from_signal, "ax", @progbits
  .globl mpg_return_from_signal
  .hidden mpg_return_from_signal
  .type mpg_return_from_signal, @function
mpg_return_from_signal:
  movq $15, %rax
  syscall
  .size mpg_return_from_signal, . - mpg_return_from_signal
  .popsection
)");
static constexpr unsigned long restorerFlag = 0x04000000; // SA_RESTORER
#else
static void (*const mpg_return_from_signal)() = nullptr; // the vDSO has it
static constexpr unsigned long restorerFlag = 0;
#endif

/// The C library may have put its own handler there since the last time.
static bool installHandler() {
  KernelAction now = {};
  if (rawCall(SYS_rt_sigaction, stopSignal, 0, long(&now), sizeof now.mask))
    return false;
  if (now.handler == waitForEnd)
    return true;
  stop->before = now;
  KernelAction ours = {waitForEnd,
                       SA_SIGINFO | SA_RESTART | SA_ONSTACK | restorerFlag,
                       mpg_return_from_signal, ~uint64_t(0)};
  return !rawCall(SYS_rt_sigaction, stopSignal, long(&ours), 0,
                  sizeof ours.mask);
}

static bool open() {
  if (stop)
    return true;
  Staged staged;
  if (buildStaged(Source::normal, roundUp(sizeof(Stop), basePageBytes()),
                  basePageBytes(), nullptr, staged))
    return false;
  stop = reinterpret_cast<Stop *>(staged.range.start);
  return true;
}

static bool isAsked(int thread) {
  for (size_t i = 0; i < stop->count; ++i)
    if (stop->asked[i] == thread)
      return true;
  return false;
}

/// A main thread that has ended while others run; it stays in the list.
static bool hasEnded(int thread) {
  if (uint32_t(thread) != stop->process)
    return false;
  char text[256];
  if (readSmallFile("/proc/self/stat", text, sizeof text) <= 0)
    return false;
  const char *state = strrchr(text, ')');
  return state && (state[2] == 'Z' || state[2] == 'X');
}

static bool requestStop(int thread) {
  if (stop->count == maxThreads)
    return false;
  siginfo_t info = {};
  info.si_code = SI_QUEUE;
  info.si_pid = int(stop->process);
  info.si_value.sival_ptr = stop;
  stop->asked[stop->count++] = thread;
  constexpr long gone = -3; // ESRCH
  long result = rawCall(SYS_rt_tgsigqueueinfo, stop->process, thread,
                        stopSignal, long(&info));
  return !isError(result) || result == gone;
}

/// Signals every thread that was not signalled before. Returns the number of
/// other threads, or -1.
static long requestAll() {
  uint32_t self = threadId();
  NumberedEntries threads("/proc/self/task");
  if (!self || threads.descriptor() < 0) // a signal to itself would stop it
    return FutexLock::isOnlyThread() ? 0 : -1;
  long others = 0;
  uint64_t thread;
  while (threads.next(thread)) {
    if (thread == self || hasEnded(int(thread)))
      continue;
    ++others;
    if (!isAsked(int(thread)) && !requestStop(int(thread)))
      return -1;
  }
  return threads.isComplete() ? others : -1;
}

bool mpg::stopOtherThreads() {
  bool alone = isAlone();
  if (alone && !stop)
    return true;
  if (!open())
    return false;
  if (alone) {
    stop->phase.fetch_add(1, std::memory_order_release);
    return true;
  }
  if (!installHandler())
    return false;
  stop->process = uint32_t(rawCall(SYS_getpid));
  stop->count = 0;
  stop->stopped.store(0, std::memory_order_relaxed);
  stop->phase.fetch_add(1, std::memory_order_release);
  constexpr unsigned turns = 500; // of 2 ms
  for (unsigned turn = 0; turn < turns; ++turn) {
    size_t askedBefore = stop->count;
    long others = requestAll();
    uint32_t stopped = stop->stopped.load(std::memory_order_acquire);
    if (others >= 0 && uint32_t(others) == stopped &&
        (stop->count == askedBefore || others == 0))
      return true;
    if (others < 0)
      break;
    timespec wait = {0, 2 * 1000 * 1000};
    if (uint32_t(others) != stopped)
      rawCall(SYS_futex, long(&stop->stopped), FUTEX_WAIT_PRIVATE, stopped,
              long(&wait));
  }
  resumeOtherThreads();
  return false;
}

void mpg::resumeOtherThreads() {
  if (!stop)
    return;
  stop->phase.fetch_add(1, std::memory_order_release);
  rawCall(SYS_futex, long(&stop->phase), FUTEX_WAKE_PRIVATE, INT32_MAX);
}
