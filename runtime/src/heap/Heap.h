// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heap as a whole: chooses the kind of block for a request, and finds the
// owner of a pointer. Entry points (Malloc.cpp) try the calling thread's cache
// first and call this for everything else.
//
// The heap starts at the first call, before any constructor. It may stay the C
// library's: in programs that are not affected, beside Fujitsu's library, and
// without large pages.

#pragma once

#include "base/Env.h"
#include "heap/HeapSmall.h"

#include <atomic>

namespace mpg {

class Messages;

/// The next definitions after ours, for memory that is not ours: the C
/// library's, or those of an allocator that is loaded after libmpg. Malloc.cpp.
struct NextMalloc {
  void *(*malloc)(size_t);
  void (*free)(void *);
  void *(*calloc)(size_t, size_t);
  void *(*realloc)(void *, size_t);
  void *(*memalign)(size_t, size_t);
  size_t (*usableSize)(void *);
};
/// The C library's until they are found. Not there in a static program that is
/// linked without --wrap: then malloc is not ours.
extern NextMalloc nextMalloc __attribute__((weak));
void findNextMalloc() __attribute__((weak));
/// Whether they may have given memory to this process.
bool nextMallocIsUsed() __attribute__((weak));

/// Whether malloc is ours; starts the heap if that is not decided yet.
bool heapIsOurs();
/// It is not, and nobody writes blocks down: calls go on to the next malloc.
extern std::atomic<bool> passesOn;

/// Called once, by the first heapIsOurs(): reads the settings and calls
/// startHeap() if this process is one of ours. Init.cpp.
bool decideHeap();

/// False: malloc stays the C library's.
bool startHeap(const Config &config, Messages &messages);

// The slow path of the entry points, after the thread's cache was empty. errno
// as the C library's functions; \p caller is the entry point's return address.

void *allocateBlock(size_t bytes);
/// For more than maxSmallBytes. pre: the thread's cache has an arena.
void *allocateMediumBlock(size_t bytes);
void *allocateZeroed(size_t bytes);
/// pre: \p alignment is a power of two.
void *allocateAligned(size_t alignment, size_t bytes);
/// On one NUMA node. pre: heapIsOurs().
void *allocateOnNode(size_t bytes, int node);
void freeBlock(void *block, uintptr_t caller);
/// The block that begins with \p page. pre: that is used, and the thread has a
/// cache.
void freeMedium(uint32_t page);
void *reallocateBlock(void *block, size_t bytes, uintptr_t caller);
size_t usableBytes(void *block);

/// The block that a pointer refers to.
struct BlockPlace {
  enum Kind : uint8_t {
    foreign, ///< not in the range of the heap
    small,   ///< where an object begins
    medium,
    large,
    freed,  ///< a block that is free
    inside, ///< not the start of a block
  };
  Kind kind = foreign;
  Range block; ///< empty if it is not known
  uint32_t page = 0;
  Slab *slab = nullptr;

  bool isInUse() const {
    return kind == small || kind == medium || kind == large;
  }
};
/// Reads the tables only: safe for any pointer, and exact for a block in use as
/// long as no thread frees it.
BlockPlace findPlace(const void *pointer);

// The steps of a fork. Between the first and one of the others nothing in the
// heap changes except the caches of other threads.

void lockHeap();
void unlockHeap();
/// In the child: frees the locks, and forgets the threads that are not there.
void restartHeapInChild();

/// Settings that mallopt() can change. False: not possible.
bool setThreshold(uint64_t bytes);
bool setTrimThreshold(uint64_t bytes);

} // namespace mpg
