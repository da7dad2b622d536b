// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg_copy_tagged (<mpg/pass.h>): replaces memcpy where the compiler finds a
// copy of marked memory. The C library's memcpy does not work with tags: it may
// zero whole lines (DC ZVA), it compares addresses, and other libraries
// interpose it.

#include "mpg/pass.h"
#include <string.h>

#if defined(__aarch64__)

/// \p address with \p tag for its top byte. HW:hpc-tag
static uintptr_t tagged(uintptr_t address, uint8_t tag) {
  constexpr unsigned shift = 56;
  return (address << 8 >> 8) | uintptr_t(tag) << shift;
}

/// Moves one \p Unit, whatever its alignment, and steps over it.
template <typename Unit> static void move(uintptr_t &to, uintptr_t &from) {
  // The compiler must not make one call of memcpy out of many of these.
  __asm__ volatile("" : "+r"(to), "+r"(from) : : "memory");
  __builtin_memcpy(reinterpret_cast<void *>(to),
                   reinterpret_cast<const void *>(from), sizeof(Unit));
  to += sizeof(Unit);
  from += sizeof(Unit);
}

void *mpg_copy_tagged(void *d, const void *s, size_t n, uint8_t dTag,
                      uint8_t sTag) {
  struct Line {
    unsigned char bytes[64];
  };
  uintptr_t to = tagged(uintptr_t(d), dTag);
  uintptr_t from = tagged(uintptr_t(s), sTag);
  for (; n >= sizeof(Line); n -= sizeof(Line))
    move<Line>(to, from);
  for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t))
    move<uint64_t>(to, from);
  for (; n > 0; --n)
    move<unsigned char>(to, from);
  return reinterpret_cast<void *>(tagged(uintptr_t(d), 0));
}

#else

void *mpg_copy_tagged(void *d, const void *s, size_t n, uint8_t, uint8_t) {
  return n ? memcpy(d, s, n) : d;
}

#endif
