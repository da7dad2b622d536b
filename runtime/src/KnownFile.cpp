// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See KnownFile.h. By device and inode: a file that is opened a second time is
// the same one, and the terminal of a shell that redirects and comes back too.

#include "KnownFile.h"

#include "Syscall.h"

#include <sys/stat.h>

using namespace mpg;

/// fd 2 of this process, by which a forked child goes as well.
static KnownFile standardError;
static bool isRemembered;

KnownFile KnownFile::read(int fd) {
  struct stat status;
  KnownFile file;
  if (fd < 0 || isError(rawCall(SYS_fstat, fd, long(&status))))
    return file;
  file.descriptor = fd;
  file.device = uint64_t(status.st_dev);
  file.inode = uint64_t(status.st_ino);
  return file;
}

void KnownFile::remember(int fd) { *this = read(fd); }

void mpg::rememberStandardError() {
  standardError.remember(2);
  __atomic_store_n(&isRemembered, true, __ATOMIC_RELEASE);
}

bool mpg::standardErrorIsThere() {
  if (!__atomic_load_n(&isRemembered, __ATOMIC_ACQUIRE))
    rememberStandardError();
  return standardError.isThere();
}
