// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See mpgrun.h. A named pipe is opened without waiting, and then written to as
// ever: a reader that is there may be slow. SIGPIPE is blocked by then
// (Supervisor.cpp), so a reader that leaves is an error like any other.

#include "Process/Ranks.h"
#include "Support/Files.h"
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
  // checkOutputFile() would make the file, for each rank of a job.
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

bool mpg::writeReportFile(StringRef pattern, pid_t pid, ReportWriter write) {
  int code;
  std::string name = expandReportName(pattern, pid, code);
  if (!code)
    code = writeOutputFile(name, write, O_NONBLOCK).value();
  if (code)
    error() << printable(name) << ": " << describe(code)
            << "; there is no report\n";
  return code == 0;
}

// Reports on standard output and in the files of the options

static bool isWritten(StringRef name, std::error_code code) {
  if (code)
    error() << printable(name) << ": " << code.message() << "\n";
  return !code;
}

bool mpg::canWriteReports(const RunOptions &options) {
  bool isPrinted = options.reportFile.empty() || options.reportFile == "-" ||
                   options.dataFile == "-";
  if (!fillStandardFiles(ClosedFile::isDevNull) && isPrinted) {
    error() << "standard output is closed; the report would have no place\n";
    return false;
  }
  for (const std::string *file :
       {&options.dataFile, &options.htmlFile, &options.reportFile})
    if (!file->empty() && *file != "-" &&
        !isWritten(*file, checkOutputFile(*file)))
      return false;
  return true;
}

bool mpg::writeReports(const RunOptions &options, ReportWriter html,
                       ReportWriter json, ReportWriter text) {
  auto write = [](const std::string &name, ReportWriter writer) {
    return name.empty() || isWritten(name, writeOutputFile(name, writer));
  };
  bool isJsonPrinted = options.dataFile == "-";
  bool areWritten = write(options.htmlFile, html);
  areWritten &= write(options.reportFile, text);
  if (isJsonPrinted)
    json(outs());
  else
    areWritten &= write(options.dataFile, json);
  if (isJsonPrinted || options.reportFile.empty())
    text(isJsonPrinted ? errs() : outs());
  outs().flush();
  std::error_code code = outs().error();
  outs().clear_error();
  return isWritten("standard output", code) && areWritten;
}
