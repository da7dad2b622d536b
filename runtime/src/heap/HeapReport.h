// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports damage that a program has done to the heap, and acts as MALLOC_CHECK_
// asks. One line on standard error with both addresses, the one that the
// program passed and that of the block:
//
//   mpg: heap: free(0x7f0012345670): block was freed before (64 bytes at
//   0x7f0012345670); called from 0x55d0c0ffee12 (/path/app+0x1e12); fix: ...
//
// Not a message of class Messages: those are printed once, by one rank of a
// node. Damage is printed each time and by each rank that has it.
//
// Also reports that the heap grows without large pages.

#pragma once

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

// Reports that the heap grows and finds no large pages: either it goes on with
// other pages, or malloc fails because HUGETLB_FALLBACK=0 asks for that. One
// line of each kind per process, with cause and fix.
//
// If the node has no pool and the user did not ask for one, the fallback is
// expected: a heap on transparent huge pages is then as good as possible and
// not reported, and one on normal pages is reported only for a program with a
// large heap.

/// The heap got \p wantedBytes of \p used (thp or normal) instead of pages of
/// \p hugeBytes from the pool. \p error is the pool's error, 0 if it was not
/// asked (mode thp). Call at every such growth: cheap once the line is printed.
/// Thread-safe, allocates nothing.
void reportHeapFallback(uint64_t wantedBytes, size_t hugeBytes, Source used,
                        int error, Messages &messages);

/// From here on each first fallback is reported: the user has named pool pages,
/// or the fallback, explicitly.
void reportEveryFallback();

/// \p text is why not all of the heap is on large pages, unless there is such a
/// reason; false then.
bool noteHeapReason(const char *text);

/// \p literal is why transparent huge pages were split. It counts before any
/// reason above: that a pool is short does not explain it. False if there is
/// such a reason already.
bool noteSplitReason(const char *literal);

/// Why the heap is not all on large pages, for Messages::region(); empty if
/// nothing is known.
const char *heapFallbackReason();

/// A block of \p wantedBytes is refused with ENOMEM, because the pool was
/// refused with \p error and no other pages may be used. As above.
void reportHeapRefusal(uint64_t wantedBytes, size_t hugeBytes, int error,
                       Messages &messages);

/// Whether arenas may take \p bytes more under a limit on memory. The heap
/// rounds blocks to its sizes and to whole frames, which takes more than the C
/// library would; so arenas get a quarter of a limit, and later blocks come
/// from the next malloc. Reports this once. \p arenaBytes: of all arenas now.
/// Thread-safe.
bool limitAllows(uint64_t arenaBytes, uint64_t bytes, Messages &messages);

/// Whether addresses with memory that nobody touches cost nothing: no limit on
/// memory, when limitAllows() last asked, and no limit on what is promised.
bool addressesAreFree();

/// The program has set a limit on memory: limitAllows() asks for it again.
void noteNewLimit();

} // namespace mpg
