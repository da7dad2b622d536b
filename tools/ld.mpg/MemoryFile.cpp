// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MemoryFile.h.

#include "MemoryFile.h"
#include "llvm/Support/Errno.h"
#include <cerrno>
#include <sys/mman.h>
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
  file.fd = memfd_create("ld.mpg", MFD_CLOEXEC);
  if (file.fd < 0 || !writeAll(file.fd, contents))
    return systemError("cannot keep a file in memory");
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
