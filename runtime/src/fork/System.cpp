// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// system() and popen(). Many programs call system() at least once. Before glibc
// 2.29 it forks without calling any handler, so all memory would have to leave
// its large pages. There, this file replaces it as newer C libraries do: by
// posix_spawn(), whose child shares the memory until it execs the shell.

#include "base/CLibrary.h"
#include "base/ProcessLock.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mpg;

static Next<int(const char *)> nextSystem;

namespace {

/// SIGINT and SIGQUIT are for the shells alone as long as there is one.
struct Interrupts {
  ProcessLock lock;
  unsigned shells MPG_GUARDED_BY(lock) = 0;
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

/// The result of system() without a shell: -1 if no process can be started.
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

// popen() for C libraries before glibc 2.29, where it forks: uses
// posix_spawn(), as newer ones do. fclose() of such a stream also waits for the
// child, as in the C library.

static Next<FILE *(const char *, const char *)> nextOpen;
static Next<int(FILE *)> nextPipeClose, nextClose;

namespace {

struct Pipe {
  Pipe *next;
  FILE *stream;
  pid_t child;
};

struct OpenMode {
  bool reads = false, writes = false, closesOnExec = false;
};

} // namespace

static ProcessLock pipesLock;
static std::atomic<Pipe *> pipes{nullptr};

static bool parseMode(const char *text, OpenMode &mode) {
  for (; *text; ++text)
    if (*text == 'r')
      mode.reads = true;
    else if (*text == 'w')
      mode.writes = true;
    else if (*text == 'e')
      mode.closesOnExec = true;
    else
      return false;
  return mode.reads != mode.writes;
}

/// Moves \p end off the descriptor \p standard: a dup2() onto itself would
/// leave it closed on exec.
static int moveAway(int end, int standard) {
  if (end != standard)
    return end;
  int moved = fcntl(end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(end);
  return moved;
}

/// Returns an errno value.
static int spawnReader(const char *command, int end, int standard, pid_t &child)
    MPG_REQUIRES(pipesLock) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  int error = posix_spawn_file_actions_adddup2(&actions, end, standard);
  // A shell must not hold the pipes of other shells.
  for (Pipe *at = pipes; at && !error; at = at->next)
    if (int other = fileno(at->stream); other != standard)
      error = posix_spawn_file_actions_addclose(&actions, other);
  const char *arguments[] = {"sh", "-c", command, nullptr};
  if (!error)
    error = posix_spawn(&child, "/bin/sh", &actions, nullptr,
                        const_cast<char **>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/// \p ours and \p theirs are closed if that fails.
static FILE *startShell(const char *command, OpenMode mode, int ours,
                        int theirs) {
  auto *pipe = static_cast<Pipe *>(malloc(sizeof(Pipe)));
  FILE *stream = pipe ? fdopen(ours, mode.reads ? "r" : "w") : nullptr;
  int error = errno;
  if (stream) {
    Locked hold(pipesLock);
    error = spawnReader(command, theirs,
                        mode.reads ? STDOUT_FILENO : STDIN_FILENO, pipe->child);
    pipe->stream = stream;
    pipe->next = pipes;
    if (!error)
      pipes = pipe;
  }
  close(theirs);
  if (stream && !error) {
    if (!mode.closesOnExec)
      fcntl(ours, F_SETFD, 0);
    return stream;
  }
  free(pipe);
  if (stream)
    nextClose.get("fclose")(stream);
  else
    close(ours);
  errno = error;
  return nullptr;
}

/// \p modeText: "r" or "w", and "e" for close-on-exec.
static FILE *openPipe(const char *command, const char *modeText) {
  OpenMode mode;
  if (!parseMode(modeText, mode)) {
    errno = EINVAL;
    return nullptr;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC))
    return nullptr;
  int ours = ends[mode.writes], theirs = ends[mode.reads];
  theirs = moveAway(theirs, mode.reads ? STDOUT_FILENO : STDIN_FILENO);
  if (theirs >= 0)
    return startShell(command, mode, ours, theirs);
  close(ours);
  return nullptr;
}

/// Forgets \p stream. Returns its child, or 0.
static pid_t readChild(FILE *stream) {
  if (!pipes.load(std::memory_order_relaxed))
    return 0;
  Pipe *found = nullptr;
  {
    Locked hold(pipesLock);
    Pipe *before = nullptr;
    for (found = pipes; found && found->stream != stream; found = found->next)
      before = found;
    if (found && before)
      before->next = found->next;
    else if (found)
      pipes = found->next;
  }
  pid_t child = found ? found->child : 0;
  free(found);
  return child;
}

static int closePipe(FILE *stream, pid_t child) {
  int status = -1;
  int failed = nextClose.get("fclose")(stream);
  int error = errno;
  int cancelState;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelState);
  pid_t ended;
  do
    ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  pthread_setcancelstate(cancelState, nullptr);
  if (failed)
    errno = error;
  return failed ? failed : ended < 0 ? -1 : status;
}

MPG_EXPORT FILE *popen(const char *command, const char *mode) {
  return forksForShells() ? openPipe(command, mode)
                          : nextOpen.get("popen")(command, mode);
}

MPG_EXPORT int pclose(FILE *stream) {
  pid_t child = readChild(stream);
  return child ? closePipe(stream, child) : nextPipeClose.get("pclose")(stream);
}

MPG_EXPORT int fclose(FILE *stream) {
  pid_t child = readChild(stream);
  return child ? closePipe(stream, child) : nextClose.get("fclose")(stream);
}
