// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hugetlb memory that fork() would share: the stretches of .data, .bss,
// heap and stacks that libmpg has put there, in address order. There may be
// thousands, and a fork must not allocate, so the list has its own memory.
//
// Also decides whether a device, or the kernel itself, may access this
// process's memory by its present frames (DMA), and moves such memory or copies
// it for the child (ForkMove.cpp).

#pragma once

#include "pages/Pages.h"

namespace mpg {

struct Mapping;

enum class ForkOwner : uint8_t { segments, heap, other };

/// Memory of one owner with the same rights, in one mapping or several that
/// touch; whole frames.
struct ForkStretch {
  Range range;
  ForkOwner owner;
  int rights; ///< of mprotect; readable at least
  size_t hugePageBytes;
  Source source = Source::normal; ///< what it moves to
};

class ForkList {
public:
  /// Finds the memory that is still as libmpg left it. Skips parts that the
  /// program has unmapped, replaced, or made unreadable. False if there is no
  /// memory for a complete list.
  /// \p hugePageBytes: of segments and heap.
  /// pre: nothing found, or discarded; the heap is locked.
  bool find(size_t hugePageBytes);
  void discard();

  /// Sets the pages that the list's memory moves to; default: normal pages.
  void moveTo(Source source);
  /// Assigns frames that are at least half nonzero to transparent huge pages,
  /// the others to normal ones. All go to normal ones if there is no memory for
  /// a longer list. pre: as find().
  void moveByContents();

  const ForkStretch *begin() const { return first; }
  const ForkStretch *end() const { return first + count; }
  /// Bytes that are present.
  uint64_t presentBytes() const;
  /// The nonzero bytes among them, in whole normal pages.
  uint64_t filledBytes() const;
  /// Bytes of \p region that move to transparent huge pages.
  uint64_t thpBytes(Range region) const;
  uint64_t bytes() const;

private:
  bool open(size_t maxRuns, size_t moreBytes);
  bool findUpTo(size_t hugePageBytes, size_t maxRuns);
  void addByContents(const ForkStretch &stretch);
  void addMapping(const Mapping &mapping, const Range *&run,
                  const Range *lastRun);
  void addOpen(const Range *run, const Range *lastRun);
  void add(ForkStretch stretch);

  size_t hugeBytes = 0; ///< of segments and heap
  size_t max = 0;       ///< stretches that fit
  Staged memory;
  ForkStretch *first = nullptr;
  size_t count = 0;
  bool complete = true;
};

/// Whether the normal page at \p at has anything but zeros.
bool isFilled(uintptr_t at, size_t page);

/// True if a device or the kernel may hold the frames: a device that is not
/// known to be harmless, io_uring or asynchronous I/O is open, or libibverbs is
/// loaded. Also true if that is unknown.
bool memoryMayBePinned();

// Moves of these pages (ForkMove.cpp). Moves memory off hugetlb pages for good:
// before a fork, and for a call for base pages (BasePages.h). Or leaves it
// there and gives the child a copy, made in the parent before the fork and
// moved into place in the child: the parent keeps its frames, whichever of them
// writes first.

/// Moves all of \p list, including the stack in use. Returns 0 or an errno
/// value; then the rest is where it was. Moved memory keeps its contents and
/// rights. \p delayedBytes: so much is on normal pages and advised to become
/// transparent huge ones, because these were slow to come.
/// pre: no other thread runs, signals are blocked.
int moveOffLargePages(const ForkList &list, uint64_t &delayedBytes);

/// The same for one stretch. pre: the stack in use is not in it.
int moveOffLargePages(const ForkStretch &stretch);

/// A stack on normal pages to run on while the one in use is replaced. Null if
/// there is no memory for it. One user at a time.
void *ownStackTop();
/// Frees it unless it is in use: each fork would copy its page tables.
void discardOwnStack();

/// The copy that a child gets in place of its parent's frames.
class ForkCopy {
public:
  /// Memory for a copy of at most \p bytes; on hugetlb pages all of it is
  /// present. Returns 0 or an errno value.
  int reserve(Source source, size_t bytes, size_t hugePageBytes);
  bool exists() const { return !memory.range.empty(); }
  /// The pages that it is on.
  Source source() const { return memory.source; }

  /// Copies the present pages of \p list, and keeps children from inheriting
  /// the memory itself. False if it does not fit. \p list must live as long as
  /// the copy.
  bool make(const ForkList &list);

  /// In the child: puts the copy in its place. Async-signal-safe; nothing
  /// happens when that was done.
  void moveIn();
  /// Frees the copy. For the parent.
  void discard();

private:
  Staged memory;
  const ForkList *list = nullptr;
};

/// Until release, the first fault in a child calls \p moveIn; all other signals
/// go to the program. pre: all signals are blocked, and no other thread
/// forks.
void catchFaults(void (*moveIn)());
void releaseFaults();

} // namespace mpg
