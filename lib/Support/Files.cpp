// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Files.h.

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
#include <sys/resource.h>
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

/// Signals wait while a file is written, so that no half of one is left.
class SignalsWait {
public:
  SignalsWait() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
  }
  ~SignalsWait() {
    // SIGXFSZ would end the program before it can report why nothing was
    // written.
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

/// A file that is open for its new contents. The destructor leaves it open.
struct Output {
  int fd = -1; ///< below 0: errno has the reason
  bool isNew = false;
  bool isReplaced = false; ///< a file, and not the program's own output
};

} // namespace

/// The descriptor, 1 or 2, that \p name is open as; 0: none.
static int findStandard(const std::string &name) {
  struct stat file, other;
  if (name == "-")
    return STDOUT_FILENO;
  if (stat(name.c_str(), &file) == 0)
    for (int fd : {STDOUT_FILENO, STDERR_FILENO})
      if (fstat(fd, &other) == 0 && file.st_dev == other.st_dev &&
          file.st_ino == other.st_ino)
        return fd;
  return 0;
}

static Output openOutput(const std::string &name, int flags) {
  Output output;
  flags |= O_WRONLY | O_CREAT | O_CLOEXEC;
  if (name != "-") {
    // Of a new report of each rank this is the only call.
    output.fd = open(name.c_str(), flags | O_EXCL, 0666);
    output.isNew = output.fd >= 0;
    if (output.isNew || errno != EEXIST)
      return output;
  }
  // Another descriptor of the same file would write over what is there.
  if (int standard = findStandard(name)) {
    output.fd = fcntl(standard, F_DUPFD_CLOEXEC, 3);
    return output;
  }
  // Without O_CREAT, which is refused in /tmp for a file of another user. A
  // link to nothing needs it.
  output.fd = open(name.c_str(), flags & ~O_CREAT);
  if (output.fd < 0 && errno == ENOENT)
    output.fd = open(name.c_str(), flags, 0666);
  struct stat file;
  output.isReplaced =
      output.fd >= 0 && fstat(output.fd, &file) == 0 && S_ISREG(file.st_mode);
  return output;
}

std::error_code mpg::checkOutputFile(const std::string &name) {
  if (findStandard(name))
    return {};
  if (sys::fs::is_directory(name))
    return std::make_error_code(std::errc::is_a_directory);
  if (access(name.c_str(), F_OK) == 0)
    return access(name.c_str(), W_OK) == 0 ? std::error_code()
                                           : errnoAsErrorCode();
  // Only making a file shows whether one can be made: rights of the folder, a
  // read-only file system.
  SignalsWait wait;
  int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) // a link to nothing is there
    return errno == EEXIST ? std::error_code() : errnoAsErrorCode();
  close(fd);
  unlink(name.c_str());
  return {};
}

/// Writes what \p text has beyond the end of the file, and makes sure that it
/// is on the disk: some file systems notice only then that they are full.
static bool appendRest(int fd, StringRef text, size_t oldBytes) {
  for (size_t at = oldBytes; at < text.size();) {
    ssize_t count = pwrite(fd, text.data() + at, text.size() - at, off_t(at));
    if (count == 0)
      errno = ENOSPC; // some file systems that are full
    if (count <= 0 && errno != EINTR)
      return false;
    at += size_t(std::max<ssize_t>(count, 0));
  }
  return oldBytes >= text.size() || fsync(fd) == 0;
}

/// Takes the space that \p text needs, so that what is there stays if there is
/// none. Writing over what is there needs none.
static std::error_code reserve(int fd, StringRef text) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && text.size() > limit.rlim_cur)
    return std::make_error_code(std::errc::file_too_large);
  if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, off_t(text.size())) == 0)
    return {};
  struct stat file;
  // Others than ENOSPC and EDQUOT: the file system (ext2, NFS 3) cannot.
  if (errno != ENOSPC && errno != EDQUOT && fstat(fd, &file) == 0) {
    if (appendRest(fd, text, size_t(file.st_size)))
      return {};
    std::error_code code = errnoAsErrorCode();
    (void)!ftruncate(fd, file.st_size);
    return code;
  }
  return errnoAsErrorCode();
}

/// Closes the file too: some file systems tell only then that they are full.
static std::error_code finish(const Output &output, StringRef text) {
  raw_fd_ostream out(output.fd, /*shouldClose=*/true);
  std::error_code code;
  if (output.isReplaced)
    code = reserve(output.fd, text);
  if (!code) {
    out << text;
    out.flush();
    code = out.error();
  }
  if (!code && output.isReplaced && ftruncate(output.fd, off_t(text.size())))
    code = errnoAsErrorCode();
  out.close();
  if (!code)
    code = out.error();
  out.clear_error();
  return code;
}

std::error_code mpg::writeOutputFile(const std::string &name,
                                     function_ref<void(raw_ostream &out)> write,
                                     int flags) {
  std::string text;
  raw_string_ostream stream(text);
  write(stream);
  stream.flush();
  SignalsWait wait;
  Output output = openOutput(name, flags);
  if (output.fd < 0)
    return errnoAsErrorCode();
  std::error_code code = finish(output, text);
  if (code && output.isNew)
    unlink(name.c_str());
  return code;
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
