// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All signals, SIGCHLD included, are blocked in this process; sigwaitinfo takes
// one at a time, so no handler runs between two lines here. The kernel sends a
// signal of the terminal (Ctrl-C, Ctrl-Z) to the whole process group, to the
// program, too: mpgrun does not forward it. It forwards a signal that a process
// sent to mpgrun alone.
//
// ptrace: SEIZE, unlike ATTACH, sends the program no SIGSTOP. LISTEN keeps a
// program in a group stop until SIGCONT, as if nobody traced it.
// PTRACE_EVENT_EXIT comes while the memory still exists.

#include "Process/Supervisor.h"
#include "Process/Program.h"
#include "Support/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

namespace {

class Supervisor {
public:
  Supervisor(bool trace, function_ref<void(pid_t)> atExit, RunLooks looks)
      : trace(trace), atExit(atExit), looks(looks) {}
  SupervisedRun run(const std::string &path, char **arguments,
                    char **environment);

private:
  [[noreturn]] void becomeProgram(const std::string &path, char **arguments,
                                  char **environment);
  bool start(const std::string &path, char **arguments, char **environment);
  void letGo();
  void watch();
  void handleSignal(const siginfo_t &info);
  bool hasStarted() const;
  void inspect();
  bool reapChildren();
  void handleStop(int status);
  void abandon(const char *call);

  bool trace;
  function_ref<void(pid_t)> atExit;
  RunLooks looks;
  /// Until the next inspection. The first is early: a program that ends soon
  /// is inspected once, too.
  timespec untilLook = {0, 2000000};
  SupervisedRun result;
  const pid_t supervisor = getpid();
  sigset_t everything, before;
  int startPipe[2] = {-1, -1};  ///< the child waits until it is traced
  int statusPipe[2] = {-1, -1}; ///< carries errno if exec fails
};

} // namespace

void Supervisor::becomeProgram(const std::string &path, char **arguments,
                               char **environment) {
  close(startPipe[1]);
  close(statusPipe[0]);
  char go;
  while (read(startPipe[0], &go, 1) < 0 && errno == EINTR) {
  }
  close(startPipe[0]);
  // A user who kills mpgrun means the program. If mpgrun has gone before this
  // call, no signal comes, but the parent is another process.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != supervisor)
    _exit(127);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  execve(path.c_str(), arguments, environment);
  int error = errno;
  (void)!write(statusPipe[1], &error, sizeof(error));
  _exit(127);
}

/// Traces the waiting child, if that is wanted and allowed, and lets it run.
void Supervisor::letGo() {
  if (trace)
    result.traced =
        ptrace(PTRACE_SEIZE, result.pid, nullptr, PTRACE_O_TRACEEXIT) == 0;
  if (looks.atStart)
    looks.atStart(result.pid, result.traced);
  close(startPipe[0]);
  close(startPipe[1]);
  close(statusPipe[1]);
}

/// A shell that waits for us has to see that the terminal has stopped the
/// program. Not so for SIGSTOP: a user who sends it to the program alone will
/// wake only the program.
static void stopLike(int signalNumber) {
  if (signalNumber == SIGTSTP || signalNumber == SIGTTIN ||
      signalNumber == SIGTTOU)
    kill(getpid(), SIGSTOP);
}

bool mpg::resumeTraced(pid_t pid, int status) {
  int event = status >> 16, number = WSTOPSIG(status);
  bool isGroupStop =
      event == PTRACE_EVENT_STOP && (number == SIGSTOP || number == SIGTSTP ||
                                     number == SIGTTIN || number == SIGTTOU);
  return ptrace(isGroupStop ? PTRACE_LISTEN : PTRACE_CONT, pid, nullptr,
                event ? 0 : number) == 0 ||
         errno == ESRCH; // it was killed meanwhile
}

void Supervisor::handleStop(int status) {
  int event = status >> 16;
  if (event == PTRACE_EVENT_EXIT)
    atExit(result.pid);
  if (!resumeTraced(result.pid, status))
    return abandon("ptrace");
  if (event == PTRACE_EVENT_STOP)
    stopLike(WSTOPSIG(status));
}

/// A filter of system calls (seccomp) forbids \p call: the program's end would
/// go unnoticed, or never come, so it ends now.
void Supervisor::abandon(const char *call) {
  result.error = std::string("cannot wait for the program, which was ended: ") +
                 strerror(errno) + " (" + call + ")";
  kill(result.pid, SIGKILL);
}

/// True when the program has ended.
bool Supervisor::reapChildren() {
  for (;;) {
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED | __WALL);
    if (pid < 0 && errno == EINTR)
      continue;
    if (pid < 0 && errno != ECHILD)
      abandon("wait4");
    if (pid <= 0)
      return pid < 0;
    if (pid != result.pid)
      continue; // a child of the program that this process was before its exec
    if (!WIFSTOPPED(status)) {
      result.waitStatus = status;
      return true;
    }
    if (!result.traced)
      stopLike(WSTOPSIG(status));
    else if (handleStop(status); !result.error.empty())
      return true;
  }
}

void Supervisor::handleSignal(const siginfo_t &info) {
  bool fromTerminal = info.si_code == SI_KERNEL;
  if (!fromTerminal)
    kill(result.pid, info.si_signo);
}

/// The pipe is readable once exec has closed its other end, or has failed.
bool Supervisor::hasStarted() const {
  pollfd end = {statusPipe[0], POLLIN, 0};
  return poll(&end, 1, 0) == 1;
}

void Supervisor::inspect() {
  if (!hasStarted())
    return; // the child still runs mpgrun's code
  // An inspection slows the program down. So pauses double up to 10 ms, and are
  // at least fifty times as long as an inspection.
  auto begin = std::chrono::steady_clock::now();
  looks.atTick(result.pid);
  std::chrono::nanoseconds time = std::chrono::steady_clock::now() - begin;
  long pause = std::min(2 * untilLook.tv_nsec, 10000000L);
  untilLook.tv_nsec = std::clamp(50 * long(time.count()), pause, 999999999L);
}

void Supervisor::watch() {
  while (!reapChildren()) {
    siginfo_t info;
    int signalNumber = looks.atTick
                           ? sigtimedwait(&everything, &info, &untilLook)
                           : sigwaitinfo(&everything, &info);
    if (signalNumber < 0 && errno == EAGAIN)
      inspect();
    if (signalNumber < 0)
      continue;
    if (info.si_signo != SIGCHLD)
      handleSignal(info);
  }
}

static std::string describeStartError(int error) {
  std::string text = std::string("cannot start a process: ") + strerror(error);
  if (error == EMFILE)
    text += "; raise that limit, 'ulimit -n 64' is enough here";
  else if (error == EAGAIN)
    text += "; 'ulimit -u' or pids.max of the control group is reached";
  return text;
}

/// Returns false if no child was started; the result has the reason.
bool Supervisor::start(const std::string &path, char **arguments,
                       char **environment) {
  sigfillset(&everything);
  sigprocmask(SIG_BLOCK, &everything, &before);
  // The parent may have left SIGCHLD ignored: the kernel would then reap the
  // child, and its status would be lost.
  signal(SIGCHLD, SIG_DFL);
  if (pipe2(startPipe, O_CLOEXEC) != 0 || pipe2(statusPipe, O_CLOEXEC) != 0 ||
      (result.pid = fork()) < 0) {
    result.error = describeStartError(errno);
    return false;
  }
  if (result.pid == 0)
    becomeProgram(path, arguments, environment);
  return true;
}

SupervisedRun Supervisor::run(const std::string &path, char **arguments,
                              char **environment) {
  if (!start(path, arguments, environment))
    return result;
  letGo();
  watch();
  int error;
  // After abandon() a traced program stops before its end and waits for us, and
  // its end of the pipe stays open: a read would never return.
  if (result.error.empty() &&
      read(statusPipe[0], &error, sizeof(error)) == sizeof(error))
    result.execError = error;
  close(statusPipe[0]);
  return result;
}

SupervisedRun mpg::runSupervised(const std::string &path,
                                 const std::vector<std::string> &arguments,
                                 const std::vector<std::string> &environment,
                                 bool trace, function_ref<void(pid_t)> atExit,
                                 RunLooks looks) {
  return Supervisor(trace, atExit, looks)
      .run(path, argumentVector(arguments).data(),
           argumentVector(environment).data());
}

void mpg::endLike(int waitStatus) {
  if (!WIFSIGNALED(waitStatus))
    _exit(WEXITSTATUS(waitStatus));
  int signalNumber = WTERMSIG(waitStatus);
  // One core file, the program's, is enough.
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(signalNumber, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signalNumber);
  raise(signalNumber);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  _exit(128 + signalNumber);
}

// Processes that the program started

SmallVector<StringRef, 52> mpg::statFields(StringRef stat) {
  SmallVector<StringRef, 52> fields;
  stat.rsplit(')').second.split(fields, ' ', -1, /*KeepEmpty=*/false);
  return fields;
}

/// \p thread: its folder in /proc.
static bool hasLivingChildren(const std::string &thread) {
  auto children = readUnmapped(thread + "/children");
  if (!children)
    return false;
  SmallVector<StringRef> numbers;
  (*children)->getBuffer().split(numbers, ' ', -1, /*KeepEmpty=*/false);
  return any_of(numbers, [](StringRef number) {
    auto stat = readUnmapped("/proc/" + number.trim().str() + "/stat");
    if (!stat)
      return false;
    auto fields = statFields((*stat)->getBuffer());
    return !fields.empty() && fields[0] != "Z" && fields[0] != "X";
  });
}

std::string mpg::describeOtherProcesses(pid_t pid) {
  std::string folder = "/proc/" + std::to_string(pid);
  std::vector<std::string> threads;
  readNames(folder + "/task", threads);
  // The first thread, which is there till the end, gets the children of others.
  threads.push_back(std::to_string(pid));
  if (any_of(threads, [&](const std::string &thread) {
        return hasLivingChildren(folder + "/task/" + thread);
      }))
    return "processes that it started go on without it, and are in no row";
  auto stat = readUnmapped(folder + "/stat");
  if (!stat)
    return "";
  SmallVector<StringRef, 52> fields = statFields((*stat)->getBuffer());
  uint64_t ticks[4] = {}; // its own user and system time, then its children's
  for (size_t i = 0; i < std::size(ticks); ++i)
    if (fields.size() < 15 || fields[11 + i].getAsInteger(10, ticks[i]))
      return "";
  uint64_t own = ticks[0] + ticks[1], others = ticks[2] + ticks[3];
  constexpr uint64_t fewTicks = 10;
  if (others < fewTicks || others < own)
    return "";
  return std::to_string(100 * others / (own + others)) +
         " % of the CPU time was that of programs that it started, which are "
         "in no row: profile those";
}
