// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the child of a program with threads the C library sets the locks of open
// files free, and writes to its tables of name services. Both are blocks of the
// heap, and both happen before any handler of pthread_atfork. The child has no
// memory there then: so its first SIGSEGV is the sign to move the copy in, and
// the second is the program's own.

#include "fork/ForkSignal.h"

#include "base/Syscall.h"

#include <signal.h>

using namespace mpg;

namespace {

struct Catch {
  void (*moveIn)() = nullptr; ///< null: nothing is caught
  long parent = 0;            ///< its process id
  struct sigaction before = {};
};

} // namespace

static Catch caught;

static void takeSignal(int, siginfo_t *info, void *) {
  long self = rawCall(SYS_getpid);
  void (*moveIn)() = caught.moveIn;
  // Whatever else it is comes again, and then to the program: an error by
  // itself, what somebody has sent with our help.
  releaseFaults();
  if (info->si_code <= 0)
    rawCall(SYS_tgkill, self, rawCall(SYS_gettid), SIGSEGV);
  else if (self != caught.parent && moveIn)
    moveIn();
}

void mpg::catchFaults(void (*moveIn)()) {
  struct sigaction action = {};
  action.sa_sigaction = takeSignal;
  action.sa_flags = SA_SIGINFO;
  sigfillset(&action.sa_mask);
  caught.moveIn = moveIn;
  caught.parent = rawCall(SYS_getpid);
  if (sigaction(SIGSEGV, &action, &caught.before)) {
    caught.moveIn = nullptr;
    return;
  }
  uint64_t faultsOnly = uint64_t(1) << (SIGSEGV - 1);
  rawCall(SYS_rt_sigprocmask, SIG_UNBLOCK, long(&faultsOnly), 0,
          sizeof faultsOnly);
}

void mpg::releaseFaults() {
  if (caught.moveIn)
    sigaction(SIGSEGV, &caught.before, nullptr);
  caught.moveIn = nullptr;
}
