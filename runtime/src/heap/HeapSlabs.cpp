// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapSlabs.h.

#include "heap/HeapSlabs.h"

using namespace mpg;

SlabFrames mpg::slabFrames;

uint32_t SlabFrames::acquire(int &error) {
  for (;;) {
    if (uint32_t page = popListed())
      return page;
    if (!grow(error))
      return 0;
  }
}

/// One thread at a time: otherwise, while the kernel clears a large page, all
/// threads that find no slab would take one each.
bool SlabFrames::grow(int &error) {
  Arena &arena = arenaAt(0);
  uint32_t frame;
  {
    Locked hold(lock);
    if (first) // meanwhile
      return true;
    arena.lock.lock();
    frame = arena.acquireSlabFrame(error);
    if (frame) {
      freeSlabs(frame) = allSlabs;
      linkUnit(heapMap.pages, first, frame);
    }
  }
  arena.unlock(); // without the lock: it gives memory back on the occasion
  return frame;
}

/// Out of a frame that is there; 0: none has a free slab.
uint32_t SlabFrames::popListed() {
  Locked hold(lock);
  uint32_t frame = first;
  if (!frame)
    return 0;
  if (frame == spare)
    spare = 0;
  // From another one on in each process, so that addresses cannot be guessed.
  const auto from = heapMap.random % slabs;
  SlabBits &bits = freeSlabs(frame);
  SlabBits turned = bits >> from | bits << (slabs - from);
  uint32_t index = (uint32_t(__builtin_ctz(turned)) + from) % slabs;
  bits &= ~(SlabBits(1) << index);
  if (!bits)
    unlinkUnit(heapMap.pages, first, frame);
  return frame + index * slabPages;
}

void SlabFrames::recycle(uint32_t page) {
  if (uint32_t frame = markFree(page))
    arenaAt(0).recycleSlabFrame(frame);
}

/// Returns a frame without a slab in use that is not kept, or 0.
uint32_t SlabFrames::markFree(uint32_t page) {
  Locked hold(lock);
  uint32_t frame = page & ~(framePages - 1);
  SlabBits &bits = freeSlabs(frame);
  if (!bits)
    linkUnit(heapMap.pages, first, frame);
  bits |= SlabBits(1) << (page - frame) / slabPages;
  if (bits != allSlabs)
    return 0;
  // One frame is kept, so that a slab that comes and goes costs little.
  if (!spare) {
    spare = frame;
    return 0;
  }
  unlinkUnit(heapMap.pages, first, frame);
  return frame;
}

uint32_t SlabFrames::popSpare() {
  Locked hold(lock);
  uint32_t frame = spare;
  if (frame)
    unlinkUnit(heapMap.pages, first, frame);
  spare = 0;
  return frame;
}

void SlabFrames::releaseSpare() {
  if (uint32_t frame = popSpare())
    arenaAt(0).recycleSlabFrame(frame);
}

/// Takes the free slabs of a frame in which others are in use; none if the
/// frame is not present.
SlabBits SlabFrames::acquireAll(uint32_t frame) {
  Locked hold(lock);
  if (heapMap.pages[frame].state != UnitState::slabs)
    return 0;
  SlabBits bits = freeSlabs(frame);
  if (!bits || bits == allSlabs) // the spare one, or on its way to the arena
    return 0;
  unlinkUnit(heapMap.pages, first, frame);
  freeSlabs(frame) = 0;
  return bits;
}

bool SlabFrames::trimPages() {
  bool any = false;
  size_t open = heapMap.openBytes.load(std::memory_order_acquire);
  for (uint32_t frame = 0; frame < open / heapPageBytes; frame += framePages) {
    SlabBits bits = acquireAll(frame);
    for (SlabBits left = bits; left;) {
      auto first = unsigned(__builtin_ctz(left));
      auto count = unsigned(__builtin_ctz(~(left >> first)));
      uintptr_t start = addressOfPage(frame + first * slabPages);
      any |= heapSpace.empty({start, start + count * slabBytes});
      left &= ~(((SlabBits(1) << count) - 1) << first);
    }
    for (; bits; bits &= bits - 1)
      recycle(frame + unsigned(__builtin_ctz(bits)) * slabPages);
  }
  return any;
}
