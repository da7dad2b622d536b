// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// random-heap.c's model of its blocks: their addresses, lengths and contents.
// None of it is in malloc's memory. An overlap is found when the second block
// arrives, a write by others when the block is checked. A fault ends the
// process with status 1 and one line that begins with `wrong:`.

#ifndef RANDOM_MODEL_H
#define RANDOM_MODEL_H

#include <stddef.h>
#include <stdint.h>

/// One block of the allocator under test.
typedef struct Block {
  uintptr_t start;
  uintptr_t end;      ///< after its usable bytes
  size_t bytes;       ///< asked for
  size_t filledBytes; ///< of the pattern: what was asked for, or all usable
  uint64_t id;        ///< the pattern depends on it
  int settled;        ///< filled, and nobody writes to it
  uint32_t priority;  ///< of the tree, as the links
  struct Block *left, *right;
} Block;

/// Before anything else: room for so many blocks at a time.
void startModel(size_t blocks);

/// Locks the model of all threads; the functions below do so only where noted.
void lockModel(void);
void unlockModel(void);

/// A new block: finds overlaps, and fills it. Takes the lock, twice.
/// \param allUsable  fill all usable bytes, not those asked for alone
Block *addBlock(void *start, size_t bytes, int allUsable, const char *from);

/// The allocator is about to get it back. Takes the lock. The record may be
/// read until dropBlock(), which the caller owes it.
void removeBlock(Block *block);
void dropBlock(Block *block);

/// Fails unless the first bytes at \p place are those of the block.
void checkPattern(const Block *block, const void *place, size_t bytes,
                  const char *when);

/// All of one block.
void checkBlock(const Block *block, const char *when);

/// Every settled block of all threads is checked and put into \p blocks, up to
/// \p max of them. Returns how many. For the child of a fork; with the lock.
size_t checkAllBlocks(Block **blocks, size_t max);

/// Blocks and bytes now, and the most there have been.
typedef struct {
  size_t blocks, bytes, maxBlocks, maxBytes;
} ModelCounts;
ModelCounts modelCounts(void);

/// Ends the process.
void wrong(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/// The run's name in messages of wrong().
extern const char *runName;

#endif
