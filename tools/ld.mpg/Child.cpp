// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Child.h.

#include "Child.h"
#include "Support/Files.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

using namespace llvm;
using namespace mpg;

MemoryFile::MemoryFile(MemoryFile &&other) { *this = std::move(other); }

MemoryFile &MemoryFile::operator=(MemoryFile &&other) {
  std::swap(fd, other.fd);
  std::swap(filePath, other.filePath);
  return *this;
}

MemoryFile::~MemoryFile() {
  if (fd >= 0)
    close(fd);
}

static Error systemError(const char *what) {
  return createStringError(inconvertibleErrorCode(),
                           std::string(what) + ": " + sys::StrError(errno));
}

static bool writeAll(int fd, StringRef text) {
  while (!text.empty()) {
    ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR)
      return false;
    text = text.drop_front(written < 0 ? 0 : size_t(written));
  }
  return true;
}

Expected<MemoryFile> MemoryFile::create(StringRef contents) {
  MemoryFile file;
  file.fd = openMemoryFile("ld.mpg", O_CLOEXEC);
  if (file.fd < 0 || !writeAll(file.fd, contents))
    return systemError("cannot keep a file in memory or in TMPDIR");
  file.filePath = "/proc/self/fd/" + std::to_string(file.fd);
  if (access(file.filePath.c_str(), R_OK) != 0)
    return systemError("/proc is needed and not mounted");
  return file;
}

bool MemoryFile::append(StringRef text) const { return writeAll(fd, text); }

std::string MemoryFile::contents() const {
  std::string text;
  char buffer[65536];
  off_t offset = 0;
  for (;;) {
    ssize_t got = pread(fd, buffer, sizeof(buffer), offset);
    if (got <= 0)
      return text;
    text.append(buffer, size_t(got));
    offset += got;
  }
}

void MemoryFile::replace(int target) const { dup2(fd, target); }

/// The child has printed what there is to say; this process only has to end in
/// the same way.
static int endAs(int signalNumber) {
  signal(signalNumber, SIG_DFL);
  raise(signalNumber);
  return 128 + signalNumber; // the signal is blocked
}

/// The child that may be writing files, 0 if none is.
static volatile pid_t writer = 0;

static constexpr int interrupts[] = {SIGHUP, SIGINT, SIGTERM};

/// Called by LLVM's handler, by raise(), when it has removed the files of this
/// process.
static void endWithWriter(int signalNumber, siginfo_t *info, void *) {
  // A second one, of the parent: not before that.
  if (info->si_pid != getpid())
    return;
  if (pid_t child = writer) {
    // From a terminal it has the signal already. Two at once would run LLVM's
    // handler in two threads, and the first one that is ready ends the process.
    constexpr timespec moment = {0, 20000000};
    nanosleep(&moment, nullptr);
    kill(child, SIGTERM);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR)
      continue;
  }
  signal(signalNumber, SIG_DFL);
  raise(signalNumber);
}

void mpg::endWithChildWhenInterrupted() {
  struct sigaction ending = {}, before;
  ending.sa_sigaction = endWithWriter;
  ending.sa_flags = SA_SIGINFO;
  for (int number : interrupts) {
    sigaction(number, &ending, &before);
    if (before.sa_handler == SIG_IGN)
      signal(number, SIG_IGN);
  }
}

/// A crash leaves neither a message nor a core file.
static void beQuiet() {
  sys::unregisterHandlers();
  for (int number : interrupts)
    signal(number, SIG_DFL);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null >= 0) {
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
  }
}

Expected<Child> Child::start(function_ref<void()> body) {
  Expected<Child> child = startAny(body);
  if (child)
    writer = child->pid;
  return child;
}

Expected<Child> Child::startAny(function_ref<void()> body) {
  // Inherited as ignored, it would take the exit status of children away.
  signal(SIGCHLD, SIG_DFL);
  pid_t parent = getpid();
  Child child;
  child.pid = fork();
  if (child.pid < 0)
    return createStringError(inconvertibleErrorCode(), sys::StrError(errno));
  if (child.pid == 0) {
    writer = 0;
    // lld stops with ld.mpg, and then removes its unfinished output.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent)
      body();
    _exit(1);
  }
  return child;
}

Expected<Child> Child::startQuiet(function_ref<void()> body) {
  return startAny([&] {
    beQuiet();
    body();
  });
}

bool Child::wait() {
  while (!ended && waitpid(pid, &waitStatus, 0) < 0)
    if (errno != EINTR) { // a filter of system calls
      errs() << "ld.mpg: error: cannot wait for lld, which was ended: "
             << sys::StrError(errno) << " (wait4)\n";
      kill(pid, SIGTERM);
      waitStatus = W_EXITCODE(1, 0);
      break;
    }
  ended = true;
  if (writer == pid)
    writer = 0;
  return WIFEXITED(waitStatus) && WEXITSTATUS(waitStatus) == 0;
}

int Child::signalNumber() const {
  return WIFSIGNALED(waitStatus) ? WTERMSIG(waitStatus) : 0;
}

int Child::finish() {
  wait();
  return signalNumber() ? endAs(signalNumber()) : WEXITSTATUS(waitStatus);
}

void Child::stop() {
  if (!ended)
    kill(pid, SIGTERM);
  wait();
}
