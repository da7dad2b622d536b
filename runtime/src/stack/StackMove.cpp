// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copy and the move of a stack, run on a small separate stack: after the
// copy nothing may be written to the old one any more.

#include "base/SelfMaps.h"
#include "base/StackSwitch.h"
#include "base/Syscall.h"
#include "pages/Pages.h"
#include "stack/Stack.h"
#include <errno.h>
#include <linux/prctl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

using namespace mpg;

namespace {

struct Job {
  StackMove move;
  int error;
};

} // namespace

static void moveOnOwnStack(void *argument) {
  // A copy, because the argument is on the stack that is replaced.
  Job job = *static_cast<Job *>(argument);
  StackMove &move = job.move;
  if (!move.live.empty())
    copyPages(move.staged.range.start + (move.live.start - move.target),
              move.live.start, move.live.bytes());
  job.error = moveInto(move.staged, move.target, move.hugePageBytes);
  *static_cast<Job *>(argument) = job;
}

int mpg::moveStack(StackMove &move) {
  alignas(64) static char ownStack[64 << 10];
  Job job{move, 0};
  // Memory below this frame is free, and reading it would page it in. A page
  // more, for the frames of the calls below.
  uintptr_t frame =
      roundDown(uintptr_t(__builtin_frame_address(0)) - 4096, basePageBytes());
  if (job.move.live.contains(frame))
    job.move.live.start = frame;
  uint64_t all = ~uint64_t(0), before;
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&all), long(&before),
          sizeof all);
  mpg_call_on_stack(ownStack + sizeof ownStack, moveOnOwnStack, &job);
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&before), 0, sizeof before);
  move = job.move;
  return job.error;
}

// Address space around the process stack. These mappings hold no contents and
// are not large pages, so they are made here and not in Pages.cpp. As there,
// nothing in use is ever mapped over.

// Linux 4.17; older kernels treat the address as a hint, which is detected.
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static constexpr int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;

uint64_t mpg::stackLimitBytes() {
  struct rlimit limit;
  if (isError(rawCall(SYS_prlimit64, 0, RLIMIT_STACK, 0, long(&limit))))
    return 0;
  return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

/// The kernel keeps these below a growing stack free of accessible memory (boot
/// parameter stack_guard_gap; inferred from memory of the source).
size_t mpg::guardGapBytes() { return 256 * basePageBytes(); }

bool mpg::holdPlace(Range place) {
  if (place.empty())
    return true;
  long at = mapMemory(place.start, place.bytes(), PROT_NONE,
                      anonymous | MAP_NORESERVE | MAP_FIXED_NOREPLACE);
  if (isError(at))
    return false;
  if (uintptr_t(at) == place.start)
    return true;
  unmapMemory({uintptr_t(at), uintptr_t(at) + place.bytes()});
  return false;
}

// Memory without rights would stop the stack above from growing.
void mpg::releasePlace(Range place) {
  if (unmapMemory(place))
    protectMemory(place, PROT_READ | PROT_WRITE);
}

int mpg::tryPlace(Range place) {
  long at = mapMemory(place.start, place.bytes(), PROT_READ | PROT_WRITE,
                      anonymous | MAP_FIXED_NOREPLACE);
  if (isError(at))
    return int(-at);
  releasePlace({uintptr_t(at), uintptr_t(at) + place.bytes()});
  return uintptr_t(at) == place.start ? 0 : EEXIST;
}

bool mpg::mayMapMore(size_t bytes) {
  long at = mapMemory(0, bytes, PROT_READ | PROT_WRITE, anonymous);
  if (isError(at))
    return false;
  unmapMemory({uintptr_t(at), uintptr_t(at) + bytes});
  return true;
}

static void *touchFrame(void *) {
  volatile char frame = 0;
  return reinterpret_cast<void *>(uintptr_t(frame));
}

// The stack pointer moves there: x86 kernels before 4.20 treat an access far
// below it as a stray pointer.
void mpg::stretchStackTo(uintptr_t border) {
  size_t page = basePageBytes();
  callBelow(border + page / 2, touchFrame, nullptr);
  adviseMemory({border, border + page}, MADV_DONTNEED);
}

bool mpg::mapGrowingBelow(uintptr_t top) {
  return !isError(mapMemory(top - growingStartBytes, growingStartBytes,
                            PROT_READ | PROT_WRITE,
                            anonymous | MAP_GROWSDOWN | MAP_STACK | MAP_FIXED));
}

// Linux (measured on 6.18) reads a process's arguments only from ordinary
// anonymous memory, not from hugetlb pages. So a stack moved as a whole would
// leave /proc/PID/cmdline empty and ps with a name in brackets. The remedy is
// that of programs that change their title: copy the strings, and pass the
// kernel their new address.
//
// argv[] and environ[] follow, so that a program that writes its title over its
// arguments still changes what ps shows.

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
static bool updateKernel(const prctl_mm_map &map) {
  return rawCall(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, long(&map), sizeof map) ==
         0;
}

/// Before main no other thread changes them.
static Places places;

bool mpg::canMoveArguments() {
  return places.read() && updateKernel(places.map);
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
  prctl_mm_map map = places.map;
  uintptr_t from = map.arg_start;
  size_t bytes = map.env_end - from;
  size_t mapped = roundUp(bytes, basePageBytes());
  long at = mapMemory(0, mapped, PROT_READ | PROT_WRITE, anonymous);
  if (isError(at))
    return false;
  auto to = uintptr_t(at);
  memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
  map.arg_start = to;
  map.arg_end = map.env_start = to + (map.arg_end - from);
  map.env_end = to + bytes;
  if (!updateKernel(map)) {
    unmapMemory({to, to + mapped});
    return false;
  }
  // The kernel leaves a program with its argument count at the stack pointer,
  // then the two arrays.
  auto **array = reinterpret_cast<char **>(map.start_stack) + 1;
  redirect(redirect(array, from, bytes, to), from, bytes, to);
  return true;
}
