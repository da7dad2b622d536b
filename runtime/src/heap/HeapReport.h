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
// node. Damage is told each time and by each rank that has it.
//
// And what is said when the heap grows and finds no large pages.

#ifndef MPG_RUNTIME_HEAPREPORT_H
#define MPG_RUNTIME_HEAPREPORT_H

#include "base/Messages.h"
#include "base/Range.h"
#include "pages/Pages.h"

namespace mpg {

enum class HeapError : uint8_t {
  freedBefore,      ///< the block that begins there is free
  insideBlock,      ///< inside a block in use
  notOurs,          ///< no block of this heap, nor of the C library's
  writtenAround,    ///< bytes after a block, or in front, are not as left
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

// What is said when the heap grows and finds no large pages: that it goes on
// with others, or that malloc fails because HUGETLB_FALLBACK=0 asks for that.
// One line per process each, with cause and fix.
//
// A node without any pool, where no large pages were promised, is no news:
// there a heap on transparent huge pages is as good as it gets, and one on
// normal pages is told of only when the program has a heap to speak of.

/// The heap has \p wantedBytes of \p used (thp or normal) now instead of pages
/// of \p hugeBytes from the pool; \p error is what the pool was refused with, 0
/// if it was not asked (mode thp). Call at every such growth: cheap once the
/// line is said. Thread-safe, allocates nothing.
void sayHeapFallback(uint64_t wantedBytes, size_t hugeBytes, Source used,
                     int error, Messages &messages);

/// From here on each first fallback is told: the user has asked for pages of
/// the pool by name, or how to do without.
void tellEveryFallback();

/// \p text is why not all of the heap is on large pages, unless there is such a
/// reason; false then.
bool noteHeapReason(const char *text);

/// The cause of the first fallback, for Messages::region(): of a heap that is
/// not all on pages of the pool. Empty before; never changes after that.
const char *heapFallbackReason();

/// A block of \p wantedBytes is refused with ENOMEM, because the pool was
/// refused with \p error and no other pages may be used. As above.
void sayHeapRefusal(uint64_t wantedBytes, size_t hugeBytes, int error,
                    Messages &messages);

/// Whether an arena may take \p bytes more where there is a limit on memory.
/// Blocks of the heap lie in sizes of its own and in whole frames, which
/// takes more than the C library would; so of a limit a quarter is for arenas,
/// and what comes then is the next malloc's. Says so once. \p arenaBytes: of
/// all arenas now. Thread-safe.
bool limitAllows(uint64_t arenaBytes, uint64_t bytes, Messages &messages);

} // namespace mpg

#endif // MPG_RUNTIME_HEAPREPORT_H
