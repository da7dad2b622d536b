// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The edges of a medium block: a word behind it, and one in front of it where
// those bytes are its own, that a program which writes where it should not
// overwrites. They are looked at when the block is freed or resized.
//
// The C library finds the same writes by the sizes between its blocks. The word
// behind is where its malloc has the next size: who works with that by writing
// a few bytes too many works here too. Blocks that the C library would map have
// no edges: nobody may write to their pages before first touch has decided
// where they go.

#ifndef MPG_RUNTIME_HEAPEDGES_H
#define MPG_RUNTIME_HEAPEDGES_H

#include "heap/HeapMedium.h"

namespace mpg {

/// Of a block of \p bytes that has edges: where that behind it is.
inline size_t tailOf(size_t bytes) { return roundUp(bytes + 8, 16) - 8; }

inline uint64_t &edgeAt(uintptr_t address) {
  return *reinterpret_cast<uint64_t *>(address);
}
/// What is right there. Never the mark of a free object, which may come to lie
/// in the same place.
inline uint64_t edgeOf(uintptr_t address) { return heapMap.mark ^ ~address; }

/// Sets the edges of the block in use that begins with \p page, for the
/// \p bytes that were asked for. Returns its first byte.
inline void *setEdges(uint32_t page, size_t bytes) {
  UnitEntry &entry = heapMap.pages[page];
  Range block = mediumBlock(page);
  uintptr_t tail = block.start + tailOf(bytes);
  bool hasEdges = bytes <= mostEdgedBytes && tail + 8 <= block.end &&
                  arenaSettings.hasEdges;
  if (hasEdges) {
    edgeAt(tail) = edgeOf(tail);
    if (entry.detail) // else the bytes in front are another block's
      edgeAt(block.start - 8) = edgeOf(block.start - 8);
  }
  __atomic_store_n(&entry.previous, hasEdges ? uint32_t(bytes) : 0,
                   __ATOMIC_RELEASE);
  return reinterpret_cast<void *>(block.start);
}

/// What the program may use of the block in use that begins with \p page.
inline Range usableBlock(uint32_t page) {
  Range block = mediumBlock(page);
  uint32_t bytes =
      __atomic_load_n(&heapMap.pages[page].previous, __ATOMIC_ACQUIRE);
  return {block.start, bytes ? block.start + tailOf(bytes) : block.end};
}

/// The first wrong byte of the edge at \p address, or 0.
inline uintptr_t wrongByteOf(uintptr_t address) {
  uint64_t wrong = edgeAt(address) ^ edgeOf(address);
  return wrong ? address + unsigned(__builtin_ctzll(wrong)) / 8 : 0;
}

/// The first byte around a block in use that is not as it was left, or 0.
inline uintptr_t wrongByteAround(uint32_t page) {
  const UnitEntry &entry = heapMap.pages[page];
  Range usable = usableBlock(page);
  if (entry.previous == 0)
    return 0;
  uintptr_t front = entry.detail ? wrongByteOf(usable.start - 8) : 0;
  return front ? front : wrongByteOf(usable.end);
}

} // namespace mpg

#endif // MPG_RUNTIME_HEAPEDGES_H
