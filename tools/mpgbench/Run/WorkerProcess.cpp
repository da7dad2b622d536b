// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See WorkerProcess.h. Standard output and standard error of the worker come
// through pipes, so that a worker that prints endlessly costs no disk, and
// nothing of it reaches the terminal.

#include "mpgbench/Run/WorkerProcess.h"
#include "Measure/MachineLoad.h"
#include "Process/Program.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// More than any result or message needs.
static constexpr size_t outputLimit = 1 << 20;

std::vector<std::string> mpg::workerEnvironment(
    const std::vector<std::pair<std::string, std::string>> &point,
    StringRef library) {
  static constexpr StringLiteral decided[] = {
      "XOS_MMM_L_", "MPG_",           "MALLOC_",   "OMP_",
      "LD_PRELOAD", "GLIBC_TUNABLES", "HUGETLB_",  "GOMP_",
      "KMP_",       "LD_HUGETLBFS",   "MIMALLOC_",
  };
  auto settings = point;
  if (!library.empty())
    append_range(settings, preloadSettings(library));
  std::vector<std::string> result;
  for (char **at = environ; *at; ++at) {
    StringRef name = StringRef(*at).split('=').first;
    bool isDecided = any_of(
        decided, [&](StringRef front) { return name.starts_with(front); });
    bool isSet = any_of(
        settings, [&](const auto &setting) { return name == setting.first; });
    if (!isDecided && !isSet)
      result.push_back(*at);
  }
  for (const auto &[name, value] : settings)
    result.push_back(name + "=" + value);
  return result;
}

/// Signal handlers read this.
static std::atomic<bool> areEnded = false;
static std::atomic<pid_t> running = 0; ///< the worker; 0: there is none

static void killRunning() {
  if (pid_t pid = running)
    kill(pid, SIGKILL);
}

void mpg::endWorkers() {
  areEnded = true;
  killRunning();
}

bool mpg::areWorkersEnded() { return areEnded; }

namespace {

/// One worker while it runs.
class Worker {
public:
  explicit Worker(const WorkerCommand &command) : command(command) {}
  ~Worker();
  WorkerResult run();

private:
  bool start();
  void readAll();
  int wait();
  std::string lastWords() const;

  const WorkerCommand &command;
  pid_t pid = -1;
  int output[2] = {-1, -1}, messages[2] = {-1, -1}; ///< read, write
  std::string said, complained;
  bool isLate = false;
  int startError = 0;
};

} // namespace

static void closeEnd(int &fd) {
  if (fd >= 0)
    close(fd);
  fd = -1;
}

Worker::~Worker() {
  for (int *pipeEnds : {output, messages})
    for (int i : {0, 1})
      closeEnd(pipeEnds[i]);
}

bool Worker::start() {
  if (pipe2(output, O_CLOEXEC) || pipe2(messages, O_CLOEXEC)) {
    startError = errno;
    return false;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output[1], 1);
  posix_spawn_file_actions_adddup2(&actions, messages[1], 2);
  startError = posix_spawn(&pid, command.program.c_str(), &actions, nullptr,
                           argumentVector(command.arguments).data(),
                           argumentVector(command.environment).data());
  posix_spawn_file_actions_destroy(&actions);
  closeEnd(output[1]);
  closeEnd(messages[1]);
  if (startError)
    return false;
  running = pid;
  if (areEnded) // before it could be seen
    killRunning();
  return true;
}

/// Appends what can be read; closes \p fd at its end.
static void appendFrom(int &fd, std::string &text) {
  char buffer[4096];
  ssize_t count = read(fd, buffer, sizeof(buffer));
  if (count > 0)
    text.append(buffer, std::min(size_t(count), outputLimit - text.size()));
  else if (count == 0 || errno != EINTR)
    closeEnd(fd);
}

/// Until both pipes have ended or time is up; then the worker is killed.
void Worker::readAll() {
  double end = nowSeconds() + command.limitSeconds;
  while (output[0] >= 0 || messages[0] >= 0) {
    double left = end - nowSeconds();
    if (left <= 0) {
      isLate = true;
      kill(pid, SIGKILL);
      return;
    }
    pollfd ends[] = {{output[0], POLLIN, 0}, {messages[0], POLLIN, 0}};
    if (poll(ends, 2, int(left * 1000) + 1) < 0 && errno != EINTR)
      return;
    if (ends[0].revents)
      appendFrom(output[0], said);
    if (ends[1].revents)
      appendFrom(messages[0], complained);
  }
}

int Worker::wait() {
  siginfo_t info;
  while (waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) < 0 &&
         errno == EINTR) {
  }
  running = 0; // before another process can get its number
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// "ended by signal 9 (Killed)"; the system's own reason for that one.
static std::string describeSignal(int number) {
  std::string text = "the worker was ended by signal " +
                     std::to_string(number) + " (" + strsignal(number) + ")";
  return number == SIGKILL ? text + ", as the system does when memory runs out"
                           : text;
}

std::string Worker::lastWords() const {
  StringRef last = StringRef(complained).rtrim();
  last = last.substr(last.rfind('\n') + 1);
  return last.empty() ? "" : ": " + printable(last);
}

WorkerResult Worker::run() {
  WorkerResult failed;
  if (!start()) {
    failed.error = std::string("no worker process could be started: ") +
                   strerror(startError);
    return failed;
  }
  readAll();
  int status = wait();
  if (isLate)
    failed.error = "took more than " + std::to_string(command.limitSeconds) +
                   " seconds and was ended";
  else if (WIFSIGNALED(status))
    failed.error = describeSignal(WTERMSIG(status)) + lastWords();
  else if (status != 0)
    failed.error = "the worker ended with status " +
                   std::to_string(WEXITSTATUS(status)) + lastWords();
  if (!failed.error.empty())
    return failed;
  Expected<WorkerResult> result = readWorkerResult(StringRef(said).rtrim());
  if (result)
    return std::move(*result);
  failed.error = "the worker printed something else than a result: " +
                 toString(result.takeError());
  return failed;
}

WorkerResult mpg::runWorkerProcess(const WorkerCommand &command) {
  return Worker(command).run();
}
