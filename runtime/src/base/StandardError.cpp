// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StandardError.h. By device and inode: a file that is opened a second time
// is the same one, and a terminal that a shell comes back to as well.

#include "base/StandardError.h"

#include "base/Syscall.h"

#include <stdint.h>
#include <sys/stat.h>

using namespace mpg;

namespace {

struct File {
  bool isOpen = false;
  uint64_t device = 0, inode = 0;
};

} // namespace

/// What descriptor 2 was; a forked child goes by it as well.
static File atStart;
static bool isRemembered;

static File readStandardError() {
  struct stat status;
  if (isError(rawCall(SYS_fstat, 2, long(&status))))
    return {};
  return {true, uint64_t(status.st_dev), uint64_t(status.st_ino)};
}

void mpg::rememberStandardError() {
  atStart = readStandardError();
  __atomic_store_n(&isRemembered, true, __ATOMIC_RELEASE);
}

bool mpg::standardErrorIsThere() {
  if (!__atomic_load_n(&isRemembered, __ATOMIC_ACQUIRE))
    rememberStandardError();
  File now = readStandardError();
  return atStart.isOpen && now.isOpen && now.device == atStart.device &&
         now.inode == atStart.inode;
}
