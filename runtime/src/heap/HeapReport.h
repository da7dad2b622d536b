// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is said when a program has damaged the heap, and what MALLOC_CHECK_
// wants done about it. One line on standard error that has both addresses, the
// one that the program gave and that of the block:
//
//   mpg: heap: free(0x7f0012345670): block was freed before (64 bytes at
//   0x7f0012345670); called from 0x55d0c0ffee12 (/path/app+0x1e12); fix: ...
//
// Not a message of class Messages: those are told once, and by one rank of a
// node. Damage is told each time and by whoever has it.

#ifndef MPG_RUNTIME_HEAPREPORT_H
#define MPG_RUNTIME_HEAPREPORT_H

#include "base/Range.h"

namespace mpg {

enum class HeapError : uint8_t {
  freedBefore,      ///< the block that begins there is free
  insideBlock,      ///< inside a block in use
  notOurs,          ///< no block of this heap, nor of the C library's
  writtenAround,    ///< bytes behind a block, or in front, are not as left
  writtenAfterFree, ///< a free block's link was written over
};

struct HeapDamage {
  HeapError error = HeapError::notOurs;
  const char *function = "free"; ///< that found it: "free", "realloc", ...
  uintptr_t pointer = 0;         ///< what the program gave
  /// The block: its start and the bytes of it that the program may use. Empty
  /// when it is not known (any more); notOurs has none.
  Range block;
  uintptr_t wrongByte = 0; ///< the first that is wrong; writtenAround only
  uintptr_t caller = 0;    ///< return address of the call; 0: not known
};

/// Bits of \p check, as MALLOC_CHECK_: 1 prints the line, 2 ends the process
/// with abort(), 4 leaves out caller and fix.
///
/// Thread-safe. Allocates nothing, keeps errno. While a thread ends the process
/// others that come here wait, so that the first line is the last. A handler of
/// SIGABRT may allocate, free, and come here again.
/// pre: the caller holds no lock of the heap, because of that handler.
void reportHeapDamage(const HeapDamage &damage, unsigned check);

} // namespace mpg

#endif // MPG_RUNTIME_HEAPREPORT_H
