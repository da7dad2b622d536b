// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// system(), which every other program calls once. Before glibc 2.29 it makes
// the shell by a fork without any handler, for which all memory would have to
// leave its large pages. There it is done here, as newer C libraries do it: by
// posix_spawn(), whose child shares the memory until it is a shell.

#include "base/CLibrary.h"
#include "base/FutexLock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mpg;

static Next<int(const char *)> nextSystem;

namespace {

/// SIGINT and SIGQUIT are for the shells alone as long as there is one.
struct Interrupts {
  FutexLock lock;
  unsigned shells = 0;
  struct sigaction onInterrupt, onQuit; ///< the program's
};

} // namespace

static Interrupts interrupts;

static void ignoreInterrupts() {
  Locked hold(interrupts.lock);
  if (interrupts.shells++)
    return;
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &interrupts.onInterrupt);
  sigaction(SIGQUIT, &ignore, &interrupts.onQuit);
}

static void restoreInterrupts() {
  Locked hold(interrupts.lock);
  if (--interrupts.shells)
    return;
  sigaction(SIGINT, &interrupts.onInterrupt, nullptr);
  sigaction(SIGQUIT, &interrupts.onQuit, nullptr);
}

/// \p mask: of the shell. Returns an errno value.
static int spawnShell(const char *command, const sigset_t &mask, pid_t &shell) {
  sigset_t byDefault;
  sigemptyset(&byDefault);
  if (interrupts.onInterrupt.sa_handler != SIG_IGN)
    sigaddset(&byDefault, SIGINT);
  if (interrupts.onQuit.sa_handler != SIG_IGN)
    sigaddset(&byDefault, SIGQUIT);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setsigdefault(&attributes, &byDefault);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  const char *arguments[] = {"sh", "-c", command, nullptr};
  int error = posix_spawn(&shell, "/bin/sh", nullptr, &attributes,
                          const_cast<char **>(arguments), environ);
  posix_spawnattr_destroy(&attributes);
  return error;
}

/// As of a shell that cannot be started, unless there is no child at all.
static int statusWithout(int error) {
  if (error == EAGAIN || error == ENOMEM) {
    errno = error;
    return -1;
  }
  return 127 << 8;
}

static int runShell(const char *command) {
  sigset_t child, before;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  int cancelState, status = -1;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelState);
  ignoreInterrupts();
  pthread_sigmask(SIG_BLOCK, &child, &before);
  pid_t shell, ended;
  if (int error = spawnShell(command, before, shell))
    status = statusWithout(error);
  else
    do
      ended = waitpid(shell, &status, 0);
    while (ended < 0 && errno == EINTR);
  int errorNumber = errno;
  restoreInterrupts();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setcancelstate(cancelState, nullptr);
  errno = errorNumber;
  return status;
}

MPG_EXPORT int system(const char *command) {
  if (forksForShells())
    return command ? runShell(command) : runShell("exit 0") == 0;
  if (auto *real = nextSystem.get("system"))
    return real(command);
  errno = ENOSYS;
  return -1;
}
