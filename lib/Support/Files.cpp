// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Files.h. Writes to a temporary file in the same folder, which then takes
// the name.

#include "Support/Files.h"
#include "Support/Format.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// All that \p file has, but not much more than \p maxBytes.
static std::error_code readAll(int file, uint64_t maxBytes,
                               SmallVectorImpl<char> &text) {
  constexpr size_t stepBytes = 64 << 10;
  while (text.size() <= maxBytes) {
    size_t size = text.size();
    // Its size is not asked: files of /proc say 0, and pipes have none.
    text.resize_for_overwrite(size + stepBytes);
    ssize_t got = read(file, text.data() + size, stepBytes);
    text.truncate(size + size_t(std::max<ssize_t>(got, 0)));
    if (got == 0)
      return {};
    if (got < 0 && errno != EINTR)
      return errnoAsErrorCode();
  }
  return std::make_error_code(std::errc::file_too_large);
}

ErrorOr<std::unique_ptr<MemoryBuffer>>
mpg::readUnmapped(const std::string &path, uint64_t maxBytes) {
  bool input = path == "-";
  int file = input ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return errnoAsErrorCode();
  SmallVector<char, 0> text;
  std::error_code error = readAll(file, maxBytes, text);
  if (!input)
    close(file);
  if (error)
    return error;
  return std::make_unique<SmallVectorMemoryBuffer>(
      std::move(text), path, /*RequiresNullTerminator=*/true);
}

std::optional<std::string> mpg::readLinkTarget(const std::string &path) {
  std::string target(64 << 10, '\0');
  ssize_t count = readlink(path.c_str(), target.data(), target.size());
  if (count < 0)
    return std::nullopt;
  target.resize(size_t(count));
  return target;
}

std::string mpg::readFailure(std::error_code error) {
  if (error == std::errc::file_too_large)
    return "it is larger than 64 MiB, or has no end";
  return error.message();
}

/// Null at the end, or with \p error set: a file system may fail in between.
static const dirent *readNext(DIR *folder, int &error) {
  errno = 0;
  const dirent *entry = readdir(folder);
  error = entry ? 0 : errno;
  return entry;
}

int mpg::readNames(const std::string &path, std::vector<std::string> &names) {
  DIR *folder = opendir(path.c_str());
  if (!folder)
    return errno;
  int error;
  while (const dirent *entry = readNext(folder, error)) {
    StringRef name = entry->d_name;
    if (name != "." && name != "..")
      names.push_back(name.str());
  }
  closedir(folder);
  // The order of a folder differs from machine to machine.
  std::sort(names.begin(), names.end());
  return error;
}

Error mpg::fileError(StringRef path, const Twine &reason) {
  return make_error<StringError>(printable(path) + ": " +
                                     printable(reason.str()),
                                 inconvertibleErrorCode());
}

Expected<std::unique_ptr<MemoryBuffer>>
mpg::readTextFile(const std::string &path, uint64_t limitBytes) {
  // Asked before it is opened: opening a pipe waits for a writer.
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status))
    return fileError(path, error.message());
  if (status.type() != sys::fs::file_type::regular_file)
    return fileError(path, "this is not a regular file");
  if (status.getSize() > limitBytes)
    return fileError(path, "the file has " + formatBytes(status.getSize()) +
                               "; at most " + formatBytes(limitBytes) +
                               " are read");
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = readUnmapped(path);
  if (!buffer)
    return fileError(path, buffer.getError().message());
  StringRef text = (*buffer)->getBuffer();
  if (text.contains('\0') || !json::isUTF8(text))
    return fileError(path, "this is not UTF-8 text");
  return std::move(*buffer);
}

namespace {

/// Signals wait while a temporary file is there, so that none is left behind.
class SignalsWait {
public:
  SignalsWait() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
  }
  ~SignalsWait() {
    // That of a limit on the size of files would end the program before it can
    // say why nothing was written.
    sigset_t ofLimit;
    sigemptyset(&ofLimit);
    sigaddset(&ofLimit, SIGXFSZ);
    timespec none = {};
    sigtimedwait(&ofLimit, nullptr, &none);
    sigprocmask(SIG_SETMASK, &before, nullptr);
  }

private:
  sigset_t before;
};

/// The file behind a name.
struct Target {
  explicit Target(const std::string &name);
  bool isThere, isReplaceable; ///< a regular file, or nothing yet
  int standard = 0;            ///< 1 or 2 if it is standard output or error
  std::string path;            ///< where its links lead
  struct stat status = {};
};

} // namespace

Target::Target(const std::string &name) : path(name) {
  if (name == "-")
    standard = STDOUT_FILENO;
  isThere = standard || stat(name.c_str(), &status) == 0;
  for (int fd : {STDERR_FILENO, STDOUT_FILENO})
    if (struct stat of; isThere && fstat(fd, &of) == 0 &&
                        of.st_dev == status.st_dev &&
                        of.st_ino == status.st_ino)
      standard = fd;
  isReplaceable = !isThere || (S_ISREG(status.st_mode) && !standard);
  SmallString<256> real;
  if (isThere && isReplaceable && !sys::fs::real_path(name, real))
    path = real.str().str();
}

/// Makes a file beside \p target; \p name: what it is called. Below 0: errno.
static int makeTemporary(const Target &target, std::string &name) {
  SmallString<256> model = sys::path::parent_path(target.path);
  sys::path::append(model, ".mpg-XXXXXX");
  name = model.str().str();
  int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0)
    return fd;
  // mkostemp gives 0600; the mask can only be read by setting it.
  mode_t mask = umask(0);
  umask(mask);
  if (target.isThere)
    // As root: a user's file stays the user's.
    (void)!fchown(fd, target.status.st_uid, target.status.st_gid);
  fchmod(fd, target.isThere ? target.status.st_mode & 07777 : 0666 & ~mask);
  return fd;
}

std::error_code mpg::checkOutputFile(const std::string &name) {
  Target target(name);
  if (target.standard)
    return {};
  if (target.isThere && S_ISDIR(target.status.st_mode))
    return std::make_error_code(std::errc::is_a_directory);
  if (target.isThere && access(target.path.c_str(), W_OK) != 0)
    return errnoAsErrorCode();
  // Only making a file shows whether one can be made: rights of the folder, a
  // read-only file system.
  if (!target.isReplaceable)
    return {};
  SignalsWait wait;
  std::string temporary;
  int fd = makeTemporary(target, temporary);
  if (fd < 0)
    return target.isThere ? std::error_code() : errnoAsErrorCode();
  close(fd);
  unlink(temporary.c_str());
  return {};
}

/// Closes \p fd too: some file systems tell only then that they are full.
static std::error_code fill(int fd, function_ref<void(raw_ostream &)> write) {
  raw_fd_ostream out(fd, /*shouldClose=*/true);
  write(out);
  out.close();
  std::error_code code = out.error();
  out.clear_error();
  return code;
}

/// Writes a file beside \p target, and gives it the name.
static std::error_code replace(const Target &target,
                               function_ref<void(raw_ostream &)> write) {
  SignalsWait wait;
  std::string temporary;
  int fd = makeTemporary(target, temporary);
  if (fd < 0)
    return errnoAsErrorCode();
  std::error_code code = fill(fd, write);
  if (!code && rename(temporary.c_str(), target.path.c_str()) != 0)
    code = errnoAsErrorCode();
  if (code)
    unlink(temporary.c_str());
  return code;
}

/// Below 0: errno.
static int openInPlace(const Target &target, int flags) {
  // Another descriptor of the same file would write over what is there.
  if (target.standard)
    return fcntl(target.standard, F_DUPFD_CLOEXEC, 3);
  int fd = open(target.path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | flags);
  if (fd >= 0 && flags)
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~flags);
  return fd;
}

std::error_code mpg::writeOutputFile(const std::string &name,
                                     function_ref<void(raw_ostream &out)> write,
                                     int flags) {
  Target target(name);
  if (target.isReplaceable) {
    std::error_code code = replace(target, write);
    bool isForbidden = code == std::errc::permission_denied ||
                       code == std::errc::operation_not_permitted ||
                       code == std::errc::device_or_resource_busy;
    if (!target.isThere || !isForbidden)
      return code;
  }
  int fd = openInPlace(target, flags);
  return fd < 0 ? errnoAsErrorCode() : fill(fd, write);
}

int mpg::openDeletedFile(StringRef name, int flags) {
  SmallString<128> path;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
  sys::path::append(path, name + "-XXXXXX");
  int fd = mkostemp(const_cast<char *>(path.c_str()), flags);
  if (fd >= 0)
    unlink(path.c_str());
  return fd;
}

int mpg::openMemoryFile(const char *name, int flags) {
  int fd = memfd_create(name, flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
  return fd >= 0 ? fd : openDeletedFile(name, flags);
}
