// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See mpgrun.h. A named pipe is opened without waiting, and then written to as
// ever: a reader that is there may be slow. SIGPIPE is blocked by then
// (Supervisor.cpp), so a reader that leaves is an error like any other.

#include "Process/Ranks.h"
#include "Support/Format.h"
#include "mpgrun.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

bool mpg::fillStandardFiles(ClosedFile inProgram) {
  bool hasOutput = fcntl(1, F_GETFD) >= 0;
  int closes = inProgram == ClosedFile::staysClosed ? O_CLOEXEC : 0;
  int fd;
  do
    fd = open("/dev/null", O_RDWR | closes);
  while (fd >= 0 && fd <= 2);
  if (fd > 2)
    close(fd);
  return hasOutput;
}

// The file of a report

static const char *describe(int error) {
  return error == ENXIO ? "this pipe has no reader" : strerror(error);
}

/// Expands \p pattern. A folder whose name is known only in the job is made:
/// the user could not. Others are a matter of the user.
static std::string expandReportName(StringRef pattern, pid_t pid, int &error) {
  std::string name = expandFileName(pattern, pid);
  error = 0;
  if (sys::path::parent_path(pattern).contains('%'))
    error = sys::fs::create_directories(sys::path::parent_path(name)).value();
  return name;
}

void mpg::warnIfNotWritable(StringRef pattern) {
  int error;
  std::string name = expandReportName(pattern, getpid(), error);
  struct stat file;
  if (error) {
    // The folder cannot be made.
  } else if (stat(name.c_str(), &file) == 0) {
    if (S_ISDIR(file.st_mode))
      error = EISDIR;
    else if (access(name.c_str(), W_OK))
      error = errno;
  } else {
    StringRef folder = sys::path::parent_path(name);
    if (access(folder.empty() ? "." : folder.str().c_str(), W_OK | X_OK))
      error = errno;
  }
  if (error)
    note() << printable(name) << ": " << describe(error)
           << "; without a change there will be no report\n";
}

bool mpg::writeReportFile(StringRef pattern, pid_t pid,
                          function_ref<void(raw_ostream &)> write) {
  int code;
  std::string name = expandReportName(pattern, pid, code);
  int file =
      code ? -1
           : open(name.c_str(),
                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
  if (!code && file < 0)
    code = errno;
  if (file >= 0) {
    fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
    raw_fd_ostream out(file, /*shouldClose=*/true);
    write(out);
    out.close();
    code = out.error().value();
    out.clear_error();
  }
  if (code)
    error() << printable(name) << ": " << describe(code)
            << "; there is no report\n";
  return code == 0;
}
