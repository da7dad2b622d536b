// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Child.h.

#include "Child.h"
#include "llvm/Support/Errno.h"
#include <cerrno>
#include <csignal>
#include <sys/prctl.h>
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

int mpg::runInChild(function_ref<void()> body,
                    function_ref<void(StringRef)> fail) {
  pid_t parent = getpid();
  pid_t child = fork();
  if (child < 0) {
    fail(sys::StrError(errno));
    return 1;
  }
  if (child == 0) {
    // Whoever stops ld.mpg stops lld: it then removes its unfinished output.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent)
      body();
    _exit(1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) {
      fail(sys::StrError(errno));
      return 1;
    }
  return WIFSIGNALED(status) ? endAs(WTERMSIG(status)) : WEXITSTATUS(status);
}
