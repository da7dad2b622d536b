// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices that pin memory have no list: InfiniBand, GPUs, Tofu, VFIO, and what
// comes next. So all of /dev counts but what every system has and what pins
// nothing. Descriptors may be closed while a mapping of theirs still works,
// hence both are looked at.

#include "fork/ForkPins.h"

#include "base/SelfMaps.h"
#include "base/Syscall.h"

#include <string.h>

using namespace mpg;

static bool startsWith(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

static bool mayPin(const char *path) {
  static const char *const harmless[] = {
      "null",    "zero",    "full", "random", "urandom",   "tty",
      "pts/",    "console", "ptmx", "shm/",   "hugepages", "mqueue/",
      "net/tun", "log",     "kmsg", "fuse"};
  if (startsWith(path, "anon_inode:[io_uring]") || startsWith(path, "/[aio]"))
    return true;
  const char *folder = "/dev/";
  if (!startsWith(path, folder))
    return false;
  for (const char *name : harmless)
    if (startsWith(path + strlen(folder), name))
      return false;
  return true;
}

static bool mayPinByDescriptor() {
  NumberedEntries descriptors("/proc/self/fd");
  uint64_t number;
  while (descriptors.next(number)) {
    char name[24], path[64];
    char *at = name + sizeof name - 1;
    *at = 0;
    do
      *--at = char('0' + number % 10);
    while (number /= 10);
    long length = rawCall(SYS_readlinkat, descriptors.descriptor(), long(at),
                          long(path), sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    if (mayPin(path))
      return true;
  }
  return !descriptors.isComplete();
}

static bool mayPinByMapping() {
  LineReader maps("/proc/self/maps");
  while (const char *line = maps.next()) {
    const char *path = strpbrk(line, "/[");
    if (const char *inode = strstr(line, "anon_inode:"))
      path = inode;
    if (path && (mayPin(path) || strstr(path, "/libibverbs.so")))
      return true;
  }
  return !maps.opened();
}

bool mpg::memoryMayBePinned() {
  return mayPinByDescriptor() || mayPinByMapping();
}
