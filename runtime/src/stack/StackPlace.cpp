// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Address space around the process stack. These mappings hold no contents and
// are no large pages, so they are made here and not in Pages.cpp; like there,
// nothing that is in use is ever mapped over.

#include "stack/StackPlace.h"

#include "base/Syscall.h"
#include "pages/Pages.h"

#include <sys/mman.h>
#include <sys/resource.h>

// Linux 4.17; older kernels take the address for a wish, which is noticed.
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

using namespace mpg;

static constexpr int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;

uint64_t mpg::stackLimitBytes() {
  struct rlimit limit;
  if (isError(rawCall(SYS_prlimit64, 0, RLIMIT_STACK, 0, long(&limit))) ||
      limit.rlim_cur == RLIM_INFINITY)
    return UINT64_MAX;
  return limit.rlim_cur;
}

size_t mpg::guardGapBytes() {
  return 256 * basePageBytes(); // HW:stack-guard-gap
}

bool mpg::holdPlace(Range place) {
  if (place.empty())
    return true;
  long at = rawCall(SYS_mmap, long(place.start), long(place.bytes()), PROT_NONE,
                    anonymous | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (isError(at))
    return false;
  if (uintptr_t(at) == place.start)
    return true;
  rawCall(SYS_munmap, at, long(place.bytes()));
  return false;
}

void mpg::releasePlace(Range place) {
  if (!place.empty())
    rawCall(SYS_munmap, long(place.start), long(place.bytes()));
}

bool mpg::mayMapMore(size_t bytes) {
  long at = rawCall(SYS_mmap, 0, long(bytes), PROT_READ | PROT_WRITE, anonymous,
                    -1, 0);
  if (isError(at))
    return false;
  rawCall(SYS_munmap, at, long(bytes));
  return true;
}

/// The stack pointer goes down with the touches: x86 kernels before 4.20 take
/// an access far below it for a stray pointer.
__attribute__((noinline)) void mpg::growStackTo(uintptr_t border) {
  constexpr size_t stepBytes = 16 << 10;
  auto at = uintptr_t(__builtin_frame_address(0));
  while (at > border + 2 * stepBytes) {
    volatile char *step = static_cast<char *>(__builtin_alloca(stepBytes));
    *step = 0;
    at = uintptr_t(step);
  }
  *reinterpret_cast<volatile char *>(border) = 0;
}

bool mpg::mapGrowingBelow(uintptr_t top) {
  long at = rawCall(SYS_mmap, long(top - growingStartBytes), growingStartBytes,
                    PROT_READ | PROT_WRITE,
                    anonymous | MAP_GROWSDOWN | MAP_STACK | MAP_FIXED, -1, 0);
  return !isError(at);
}
