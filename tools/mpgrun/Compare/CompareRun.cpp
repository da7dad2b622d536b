// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The child waits on a pipe until the parent has its counters in place and has
// read the clock, so what is measured begins with exec. Its end is seen by
// sigtimedwait, which also takes the signals that end mpgrun: nothing happens
// between two lines here.

#include "mpgrun/Compare/CompareRun.h"
#include "Measure/MachineLoad.h"
#include "Process/Program.h"
#include "Process/Supervisor.h"
#include "Support/Format.h"
#include "mpgrun/Compare/CompareOutput.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static constexpr StringLiteral knownModes[] = {
    "none", "thp", "hugetlb", "interleave", "auto", "text", "copy"};

std::vector<std::string> mpg::parseCompareModes(StringRef text,
                                                std::string &error) {
  std::vector<std::string> modes;
  for (StringRef word : split(text, ',')) {
    if (word.empty())
      error = "a mode in the list is empty";
    else if (!is_contained(knownModes, word))
      error = printable(word) + " is not a mode; known are none, thp, hugetlb, "
                                "interleave, auto, text and copy";
    else if (is_contained(modes, word))
      error = word.str() + " is there twice";
    if (!error.empty())
      return {};
    modes.push_back(word.str());
  }
  if (modes.size() < 2)
    error = "one mode is compared with nothing; name another one";
  return modes;
}

void mpg::fillUsage(RunSample &sample, const rusage &usage) {
  sample.userSeconds = toSeconds(usage.ru_utime);
  sample.systemSeconds = toSeconds(usage.ru_stime);
  sample.minorFaults = uint64_t(usage.ru_minflt);
  sample.majorFaults = uint64_t(usage.ru_majflt);
  sample.peakRssBytes = uint64_t(usage.ru_maxrss) << 10;
}

SignalGate::SignalGate() {
  sigemptyset(&blocked);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCHLD})
    sigaddset(&blocked, number);
  // A blocked signal waits for us even if it is ignored.
  struct sigaction hangup;
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN)
    sigdelset(&blocked, SIGHUP); // nohup
  sigprocmask(SIG_BLOCK, &blocked, &saved);
  // A parent may have left it ignored: children would then vanish unseen.
  signal(SIGCHLD, SIG_DFL);
}

SignalGate::~SignalGate() { sigprocmask(SIG_SETMASK, &saved, nullptr); }

namespace {

/// Why the child could not become the program.
struct StartFailure {
  int error;
  bool atExec;
};

class CompareRunner {
public:
  CompareRunner(const RunCommand &command, const SignalGate &gate)
      : command(command), gate(gate) {}
  RunOutcome run();

private:
  [[noreturn]] void becomeProgram(pid_t parent);
  bool interleave() const;
  void letGo();
  void watch();
  bool reapEnd();
  void handleStop(int status);
  void abandon(const char *call);
  void handleSignal(int number);
  void readFailure();

  const RunCommand &command;
  const SignalGate &gate;
  RunOutcome outcome;
  std::vector<char *> arguments, environment; ///< made before fork
  pid_t pid = -1;
  double started = 0;
  bool traced = false;
  bool isEnding = false;             ///< a signal ended it
  OwnedFd goRead, goWrite;           ///< the child waits until these are closed
  OwnedFd failureRead, failureWrite; ///< carries a StartFailure
};

} // namespace

static bool makePipe(OwnedFd &readEnd, OwnedFd &writeEnd) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return false;
  readEnd = OwnedFd(ends[0]);
  writeEnd = OwnedFd(ends[1]);
  return readEnd && writeEnd;
}

/// By its number: libnuma is not needed for one call.
bool CompareRunner::interleave() const {
  static constexpr int modeInterleave = 3; // MPOL_INTERLEAVE, linux/mempolicy.h
  static constexpr unsigned maxNodes = 1024, bits = 8 * sizeof(unsigned long);
  unsigned long mask[maxNodes / bits] = {};
  for (unsigned node : command.interleaveNodes)
    if (node < maxNodes)
      mask[node / bits] |= 1ul << node % bits;
  // One more than the highest bit: the kernel subtracts one.
  return syscall(SYS_set_mempolicy, modeInterleave, mask, maxNodes) == 0;
}

void CompareRunner::becomeProgram(pid_t parent) {
  // A program that is not measured any more must not run on.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(127);
  setpgid(0, 0);
  goWrite = OwnedFd();
  char go;
  while (read(goRead.get(), &go, 1) < 0 && errno == EINTR) {
  }
  StartFailure failure = {0, false};
  bool redirected = dup2(command.input, 0) >= 0 &&
                    dup2(command.output, 1) >= 0 &&
                    dup2(command.messages, 2) >= 0;
  if (redirected && (command.interleaveNodes.empty() || interleave())) {
    failure.atExec = true;
    sigprocmask(SIG_SETMASK, &gate.before(), nullptr);
    execve(command.path.c_str(), arguments.data(), environment.data());
  }
  failure.error = errno;
  (void)!write(failureWrite.get(), &failure, sizeof(failure));
  _exit(127);
}

/// Traces the waiting child, if that is wanted and allowed, and lets it run.
void CompareRunner::letGo() {
  setpgid(pid,
          pid); // as the child does; which of them is first does not matter
  if (command.atExit)
    traced = ptrace(PTRACE_SEIZE, pid, nullptr, PTRACE_O_TRACEEXIT) == 0;
  goRead = OwnedFd();
  failureWrite = OwnedFd();
  started = nowSeconds();
  goWrite = OwnedFd();
}

/// As a supervisor does: a filter of system calls forbids \p call.
void CompareRunner::abandon(const char *call) {
  outcome.error =
      std::string("the program cannot be waited for, and was ended: ") +
      strerror(errno) + " (" + call + ")";
  kill(-pid, SIGKILL);
}

void CompareRunner::handleStop(int status) {
  if (status >> 16 == PTRACE_EVENT_EXIT)
    command.atExit(pid);
  if (!resumeTraced(pid, status))
    abandon("ptrace");
}

/// True when the program has ended.
bool CompareRunner::reapEnd() {
  for (;;) {
    int status;
    rusage usage;
    pid_t ended = wait4(-1, &status, WNOHANG | __WALL, &usage);
    double time = nowSeconds();
    if (ended < 0 && errno == EINTR)
      continue;
    if (ended < 0 && errno != ECHILD)
      abandon("wait4");
    if (ended <= 0)
      return ended < 0;
    if (ended != pid)
      continue; // inherited from what this process was before
    if (WIFSTOPPED(status)) {
      handleStop(status);
      if (!outcome.error.empty())
        return true;
      continue;
    }
    RunSample &sample = outcome.sample;
    sample.waitStatus = status;
    sample.wallSeconds = time - started;
    fillUsage(sample, usage);
    return true;
  }
}

void CompareRunner::handleSignal(int number) {
  if (number == SIGTSTP) {
    // The program is in another group than the terminal's.
    kill(-pid, SIGSTOP);
    raise(SIGSTOP);
    kill(-pid, SIGCONT);
    return;
  }
  // The second time it is in earnest.
  kill(-pid, isEnding ? SIGKILL : SIGTERM);
  kill(-pid, SIGCONT);
  isEnding = true;
  if (!outcome.interruptedBy)
    outcome.interruptedBy = number;
}

void CompareRunner::watch() {
  while (!reapEnd()) {
    // A program that does not end when it is asked to has two seconds.
    timespec patience = {2, 0};
    int number = isEnding ? sigtimedwait(&gate.waiting(), nullptr, &patience)
                          : sigwaitinfo(&gate.waiting(), nullptr);
    if (number < 0 && errno == EAGAIN)
      kill(-pid, SIGKILL);
    else if (number > 0 && number != SIGCHLD)
      handleSignal(number);
  }
  if (isEnding) // what it started must not run on either
    kill(-pid, SIGKILL);
  outcome.leftProcesses = !isEnding && kill(-pid, 0) == 0;
}

void CompareRunner::readFailure() {
  StartFailure failure;
  if (read(failureRead.get(), &failure, sizeof(failure)) != sizeof(failure))
    return;
  if (failure.atExec)
    outcome.execError = failure.error;
  else
    outcome.error =
        std::string(command.interleaveNodes.empty()
                        ? "its input and outputs cannot be redirected: "
                        : "memory cannot be interleaved: ") +
        strerror(failure.error);
}

RunOutcome CompareRunner::run() {
  arguments = argumentVector(command.arguments);
  environment = argumentVector(command.environment);
  pid_t parent = getpid();
  if (!makePipe(goRead, goWrite) || !makePipe(failureRead, failureWrite) ||
      (pid = fork()) < 0) {
    outcome.error =
        std::string("no process can be started: ") + strerror(errno);
    return std::move(outcome);
  }
  if (pid == 0)
    becomeProgram(parent);
  Counters counters(pid, /*onExec=*/true);
  letGo();
  watch();
  outcome.sample.counters = counters.read();
  if (outcome.error.empty()) // else it may be held in front of its end
    readFailure();
  return std::move(outcome);
}

RunOutcome mpg::runOnce(const RunCommand &command, const SignalGate &gate) {
  return CompareRunner(command, gate).run();
}
