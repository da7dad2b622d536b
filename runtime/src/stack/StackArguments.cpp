// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linux (measured on 6.18) reads a process's arguments only out of ordinary
// anonymous memory, not out of hugetlb pages, so a stack that is moved as a
// whole would leave /proc/PID/cmdline empty and ps with a name in brackets
// (HW:cmdline-anonymous). The way out is the one of programs that change their
// title: other strings and a system call that says where they are.
//
// argv[] and environ[] follow, so that a program that writes its title over its
// arguments still changes what ps shows.

#include "stack/StackArguments.h"

#include "base/SelfMaps.h"
#include "base/Syscall.h"
#include "pages/Pages.h"

#include <linux/prctl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

using namespace mpg;

namespace {

/// Addresses in /proc/self/stat, and their fields there, counted from 1.
struct Places {
  prctl_mm_map map;
  bool read();
};

} // namespace

static const char *nextField(const char *at) {
  at = strchr(at, ' ');
  return at ? at + 1 : nullptr;
}

static uint64_t numberAt(const char *text) {
  uint64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    value = value * 10 + uint64_t(*text - '0');
  return value;
}

bool Places::read() {
  memset(&map, 0, sizeof map);
  struct Field {
    unsigned number;
    __u64 &value;
  } const fields[] = {
      {26, map.start_code}, {27, map.end_code}, {28, map.start_stack},
      {45, map.start_data}, {46, map.end_data}, {47, map.start_brk},
      {48, map.arg_start},  {49, map.arg_end},  {50, map.env_start},
      {51, map.env_end},
  };
  char text[1024];
  if (readSmallFile("/proc/self/stat", text, sizeof text) <= 0)
    return false;
  // The second field is a name in parentheses with anything in it.
  const char *at = strrchr(text, ')');
  unsigned number = 2;
  for (const Field &field : fields) {
    for (; at && number < field.number; ++number)
      at = nextField(at);
    if (!at || !(field.value = numberAt(at)))
      return false;
  }
  map.brk = __u64(rawCall(SYS_brk, 0));
  map.exe_fd = __u32(-1); // stays
  return map.arg_start < map.arg_end && map.arg_end == map.env_start &&
         map.env_start <= map.env_end;
}

/// Needs no privilege, unlike the single settings of the same call.
static bool tellKernel(const prctl_mm_map &map) {
  return rawCall(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, long(&map), sizeof map) ==
         0;
}

bool mpg::canMoveArguments() {
  Places places;
  return places.read() && tellKernel(places.map);
}

/// Lets the pointers of an array that point into [from, from + bytes) point to
/// the same place after \p to. Returns the place after the array's zero.
static char **redirect(char **array, uintptr_t from, size_t bytes,
                       uintptr_t to) {
  for (; *array; ++array) {
    uintptr_t offset = uintptr_t(*array) - from;
    if (offset < bytes)
      *array = reinterpret_cast<char *>(to + offset);
  }
  return array + 1;
}

bool mpg::moveArguments() {
  Places places;
  if (!places.read())
    return false;
  prctl_mm_map &map = places.map;
  uintptr_t from = map.arg_start;
  size_t bytes = map.env_end - from;
  size_t mapped = roundUp(bytes, basePageBytes());
  long at = rawCall(SYS_mmap, 0, long(mapped), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (isError(at))
    return false;
  auto to = uintptr_t(at);
  memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
  map.arg_start = to;
  map.arg_end = map.env_start = to + (map.arg_end - from);
  map.env_end = to + bytes;
  if (!tellKernel(map)) {
    rawCall(SYS_munmap, at, long(mapped));
    return false;
  }
  // The kernel leaves a program with its argument count at the stack pointer,
  // then the two arrays.
  auto **array = reinterpret_cast<char **>(map.start_stack) + 1;
  redirect(redirect(array, from, bytes, to), from, bytes, to);
  return true;
}
