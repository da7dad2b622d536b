// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Child.h.

#include "Child.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/Signals.h"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// The child has printed what there is to say; this process only has to end in
/// the same way.
static int endAs(int signalNumber) {
  signal(signalNumber, SIG_DFL);
  raise(signalNumber);
  return 128 + signalNumber; // the signal is blocked
}

/// A crash leaves neither a message nor a core file.
static void beQuiet() {
  sys::unregisterHandlers();
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null >= 0) {
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
  }
}

Expected<Child> Child::start(function_ref<void()> body) {
  // Inherited as ignored, it would take the exit status of children away.
  signal(SIGCHLD, SIG_DFL);
  pid_t parent = getpid();
  Child child;
  child.pid = fork();
  if (child.pid < 0)
    return createStringError(inconvertibleErrorCode(), sys::StrError(errno));
  if (child.pid == 0) {
    // Whoever stops ld.mpg stops lld: it then removes its unfinished output.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent)
      body();
    _exit(1);
  }
  return child;
}

Expected<Child> Child::startQuiet(function_ref<void()> body) {
  return start([&] {
    beQuiet();
    body();
  });
}

bool Child::wait() {
  while (!ended && waitpid(pid, &waitStatus, 0) < 0)
    if (errno != EINTR) {
      waitStatus = W_EXITCODE(1, 0);
      break;
    }
  ended = true;
  return WIFEXITED(waitStatus) && WEXITSTATUS(waitStatus) == 0;
}

int Child::finish() {
  wait();
  return WIFSIGNALED(waitStatus) ? endAs(WTERMSIG(waitStatus))
                                 : WEXITSTATUS(waitStatus);
}

void Child::stop() {
  if (!ended)
    kill(pid, SIGTERM);
  wait();
}
