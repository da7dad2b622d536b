// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MALLOC_CHECK_ and MALLOC_PERTURB_: find mistakes of the program. Wrong frees
// are always detected, from the tables. If MALLOC_CHECK_ is set, a block also
// gets a guard: the bytes after the requested ones hold a pattern, and the last
// eight bytes of the block hold the requested size. Any of this takes threads
// off the fast path.

#pragma once

#include "base/Env.h"
#include "heap/HeapReport.h"

namespace mpg {

constexpr size_t guardBytes = 16; ///< more than were asked for

/// The checks in force; mallopt() changes them.
struct HeapChecks {
  unsigned level = 3;  ///< bits of MALLOC_CHECK_
  bool guards = false; ///< set once, at the start
  uint8_t perturb = 0; ///< 0: memory is left as it is
  bool seesEveryCall() const { return guards || perturb; }
};
extern HeapChecks heapChecks;

void startChecks(const Config &config);

/// Bytes to allocate for \p bytes; SIZE_MAX if that is too much.
inline size_t withGuard(size_t bytes) {
  if (!heapChecks.guards)
    return bytes;
  return bytes > SIZE_MAX - guardBytes ? SIZE_MAX : bytes + guardBytes;
}

/// Puts the guard after the \p bytes that were asked for of \p block.
void setGuard(Range block, size_t bytes);

/// Bytes that were asked for; the whole block if its guard is damaged.
/// \p wrongByte: the first that is wrong, or 0.
size_t readGuard(Range block, uintptr_t &wrongByte);

/// Fills new or freed memory as MALLOC_PERTURB_ asks.
void perturbNew(void *start, size_t bytes);
void perturbFreed(void *start, size_t bytes);

/// Says what is wrong and ends the process if MALLOC_CHECK_ wants that.
/// pre: no lock of the heap is held.
void damage(HeapError error, const char *function, const void *pointer,
            Range block, uintptr_t caller, uintptr_t wrongByte = 0);

} // namespace mpg
