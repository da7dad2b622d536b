// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// System calls without libc: no errno, no lazy binding, no cancellation, no
// hook of another library. While a piece of .data is between its old and its
// new place, no global variable may be written, and in a static program errno
// and libc's own data may be in that piece. Results are the kernel's: a value
// or a negative errno.
//
// A test that is built with MPG_INJECT_FAULTS decides which calls fail.

#pragma once

#include "base/Range.h"
#include <atomic>
#include <stdint.h>
#include <sys/syscall.h>

namespace mpg {

/// The program has sandboxed itself (seccomp), as Interpose.cpp has seen: it
/// may die of a system call that no malloc makes. From then on libmpg reads no
/// files and prints nothing.
inline std::atomic<bool> isLockedIn{false};

#ifdef MPG_INJECT_FAULTS
/// The negative errno that the call must fail with; 0: make it. The test
/// defines this.
long injectedFault(long number, long a, long b, long c, long d);
#else
inline long injectedFault(long, long, long, long, long) { return 0; }
#endif

#if defined(__x86_64__)
inline long rawCall(long number, long a = 0, long b = 0, long c = 0, long d = 0,
                    long e = 0, long f = 0) {
  if (long fault = injectedFault(number, a, b, c, d))
    return fault;
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
                     "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
inline long rawCall(long number, long a = 0, long b = 0, long c = 0, long d = 0,
                    long e = 0, long f = 0) {
  if (long fault = injectedFault(number, a, b, c, d))
    return fault;
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}
#else
#error "libmpg runs on x86-64 and AArch64"
#endif

inline bool isError(long result) {
  return result < 0 && result > -4096; // the kernel's errno values
}

/// The errno value of \p result; 0: it is none.
inline int toError(long result) { return isError(result) ? int(-result) : 0; }

/// As mmap(), but for the result.
inline long mapMemory(uintptr_t address, size_t bytes, int rights, int flags,
                      int fd = -1, uint64_t offset = 0) {
  return rawCall(SYS_mmap, long(address), long(bytes), rights, flags, fd,
                 long(offset));
}

// These return an errno value.

inline int unmapMemory(Range range) {
  return range.empty() ? 0
                       : toError(rawCall(SYS_munmap, long(range.start),
                                         long(range.bytes())));
}

inline int protectMemory(Range range, int rights) {
  return toError(
      rawCall(SYS_mprotect, long(range.start), long(range.bytes()), rights));
}

inline int adviseMemory(Range range, int advice) {
  return toError(
      rawCall(SYS_madvise, long(range.start), long(range.bytes()), advice));
}

} // namespace mpg
