// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocks in a treap by address, in memory of mmap(). The lock is held for a
// few hundred nanoseconds at a time and never while the allocator is called, so
// that threads meet in there.

#include "random-model.h"
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Longer blocks are filled in cells, one a page, and at their end.
enum {
  wholeBytes = 64 << 10,
  stepBytes = 4096,
  cellBytes = 64,
  tailBytes = 256
};

const char *runName = "";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Block *root, *unused;
static uint64_t lastId;
static ModelCounts counts;

void wrong(const char *format, ...) {
  char text[600];
  int length = snprintf(text, sizeof text, "wrong: ");
  va_list arguments;
  va_start(arguments, format);
  length += vsnprintf(text + length, 400, format, arguments);
  va_end(arguments);
  length = (int)strlen(text);
  length += snprintf(text + length, sizeof text - (size_t)length,
                     " (%s, process %d)\n", runName, (int)getpid());
  if (write(1, text, strlen(text)) < 0)
    _exit(3);
  _exit(1);
}

void startModel(size_t blocks) {
  Block *all = mmap(NULL, blocks * sizeof *all, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED)
    wrong("no memory for the model");
  for (size_t i = blocks; i-- > 0;) {
    all[i].right = unused;
    unused = &all[i];
  }
}

void lockModel(void) { pthread_mutex_lock(&lock); }
void unlockModel(void) { pthread_mutex_unlock(&lock); }

ModelCounts modelCounts(void) {
  lockModel();
  ModelCounts now = counts;
  unlockModel();
  return now;
}

/// Blocks below \p start go to the left, the others to the right.
static void split(Block *tree, uintptr_t start, Block **left, Block **right) {
  if (!tree) {
    *left = *right = NULL;
  } else if (tree->start < start) {
    split(tree->right, start, &tree->right, right);
    *left = tree;
  } else {
    split(tree->left, start, left, &tree->left);
    *right = tree;
  }
}

static Block *merge(Block *left, Block *right) {
  if (!left || !right)
    return left ? left : right;
  if (left->priority > right->priority) {
    left->right = merge(left->right, right);
    return left;
  }
  right->left = merge(left, right->left);
  return right;
}

/// A block that has a byte in common with \p block, or null.
static const Block *overlapping(const Block *block) {
  for (const Block *at = root; at;) {
    if (at->start < block->end && block->start < at->end)
      return at;
    at = block->start < at->start ? at->left : at->right;
  }
  return NULL;
}

static void insert(Block *block, const char *from) {
  const Block *other = overlapping(block);
  if (other)
    wrong("overlap: %s gave %#zx-%#zx, and a block of %zu bytes is at "
          "%#zx-%#zx",
          from, block->start, block->end, other->bytes, other->start,
          other->end);
  Block *left, *right;
  split(root, block->start, &left, &right);
  block->left = block->right = NULL;
  root = merge(merge(left, block), right);
}

static uint64_t patternWord(uint64_t id, size_t at) {
  uint64_t word = (id + 1) * 0x9e3779b97f4a7c15u + at * 0xd6e8feb86659fd93u;
  return word ^ word >> 29;
}

static void fillSpan(const Block *block, size_t from, size_t to) {
  char *start = (char *)block->start;
  for (; from < to; from += 8) {
    uint64_t word = patternWord(block->id, from);
    memcpy(start + from, &word, to - from < 8 ? to - from : 8);
  }
}

static void checkSpan(const Block *block, const char *start, size_t from,
                      size_t to, const char *when) {
  for (; from < to; from += 8) {
    uint64_t word = patternWord(block->id, from), found = word;
    size_t bytes = to - from < 8 ? to - from : 8;
    memcpy(&found, start + from, bytes);
    if (found != word)
      wrong("contents: a block of %zu bytes at %p has %#lx and not %#lx from "
            "byte %zu on, %s",
            block->bytes, (const void *)start, (unsigned long)found,
            (unsigned long)word, from, when);
  }
}

static void fillBlock(const Block *block) {
  size_t bytes = block->filledBytes;
  if (bytes <= wholeBytes) {
    fillSpan(block, 0, bytes);
    return;
  }
  for (size_t at = 0; at + stepBytes <= bytes; at += stepBytes)
    fillSpan(block, at, at + cellBytes);
  // On a border of words, so that a part of it can be checked.
  fillSpan(block, (bytes - tailBytes) & ~(size_t)7, bytes);
}

void checkPattern(const Block *block, const void *place, size_t bytes,
                  const char *when) {
  size_t filled = block->filledBytes;
  if (filled <= wholeBytes) {
    checkSpan(block, place, 0, bytes < filled ? bytes : filled, when);
    return;
  }
  for (size_t at = 0; at + stepBytes <= filled && at + cellBytes <= bytes;
       at += stepBytes)
    checkSpan(block, place, at, at + cellBytes, when);
  size_t tail = (filled - tailBytes) & ~(size_t)7;
  if (tail < bytes)
    checkSpan(block, place, tail, bytes < filled ? bytes : filled, when);
}

void checkBlock(const Block *block, const char *when) {
  checkPattern(block, (const void *)block->start, block->filledBytes, when);
}

/// With the lock.
static void count(size_t bytes) {
  counts.bytes += bytes;
  if (++counts.blocks > counts.maxBlocks)
    counts.maxBlocks = counts.blocks;
  if (counts.bytes > counts.maxBytes)
    counts.maxBytes = counts.bytes;
}

Block *addBlock(void *start, size_t bytes, int allUsable, const char *from) {
  size_t usable = malloc_usable_size(start);
  if (usable < bytes)
    wrong("usable: %s gave %zu of %zu bytes at %p", from, usable, bytes, start);
  lockModel();
  Block *block = unused;
  if (!block)
    wrong("too many blocks for the model");
  unused = block->right;
  block->start = (uintptr_t)start;
  block->end = block->start + (usable ? usable : 1);
  block->bytes = bytes;
  block->filledBytes = allUsable ? usable : bytes;
  block->id = ++lastId;
  block->priority = (uint32_t)(patternWord(block->id, 0) >> 16);
  block->settled = 0;
  insert(block, from);
  count(bytes);
  unlockModel();
  fillBlock(block);
  lockModel();
  block->settled = 1;
  unlockModel();
  return block;
}

void removeBlock(Block *block) {
  lockModel();
  Block *left, *middle, *right;
  split(root, block->start, &left, &middle);
  split(middle, block->start + 1, &middle, &right);
  if (middle != block)
    wrong("the model itself is broken at %#zx", block->start);
  root = merge(left, right);
  block->settled = 0;
  --counts.blocks;
  counts.bytes -= block->bytes;
  unlockModel();
}

void dropBlock(Block *block) {
  lockModel();
  block->right = unused;
  unused = block;
  unlockModel();
}

static size_t collect(Block *tree, Block **blocks, size_t found, size_t max) {
  if (!tree)
    return found;
  found = collect(tree->left, blocks, found, max);
  if (tree->settled) {
    checkBlock(tree, "in the child of a fork");
    if (found < max)
      blocks[found++] = tree;
  }
  return collect(tree->right, blocks, found, max);
}

size_t checkAllBlocks(Block **blocks, size_t max) {
  return collect(root, blocks, 0, max);
}
