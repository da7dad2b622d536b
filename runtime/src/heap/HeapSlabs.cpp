// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "heap/HeapSlabs.h"

using namespace mpg;

SlabGranules mpg::slabGranules;

void SlabGranules::link(uint32_t granule) {
  UnitEntry &entry = heapMap.pages[granule];
  entry.next = first;
  entry.previous = 0;
  if (first)
    heapMap.pages[first].previous = granule;
  first = granule;
}

void SlabGranules::unlink(uint32_t granule) {
  UnitEntry &entry = heapMap.pages[granule];
  if (entry.previous)
    heapMap.pages[entry.previous].next = entry.next;
  else
    first = entry.next;
  if (entry.next)
    heapMap.pages[entry.next].previous = entry.previous;
}

uint32_t SlabGranules::take(int &error) {
  for (;;) {
    if (uint32_t page = takeListed())
      return page;
    if (!grow(error))
      return 0;
  }
}

/// One thread after the other: while the kernel clears a large page, all that
/// find no slab would else take one each.
bool SlabGranules::grow(int &error) {
  Arena &arena = arenaAt(0);
  uint32_t granule;
  {
    Locked hold(lock);
    if (first) // meanwhile
      return true;
    arena.lock.lock();
    granule = arena.takeSlabGranule(error);
    if (granule) {
      setFreeSlabs(granule, allSlabs);
      link(granule);
    }
  }
  arena.unlock(); // without the lock: it gives memory back on the occasion
  return granule;
}

/// Out of a granule that is there; 0: none has a free slab.
uint32_t SlabGranules::takeListed() {
  Locked hold(lock);
  uint32_t granule = first;
  if (!granule)
    return 0;
  if (granule == spare)
    spare = 0;
  // From another one on in each process, so that addresses cannot be guessed.
  const auto from = heapMap.random % slabs;
  SlabBits bits = freeSlabs(granule);
  SlabBits turned = bits >> from | bits << (slabs - from) % slabs;
  uint32_t index = (uint32_t(__builtin_ctzll(turned)) + from) % slabs;
  bits &= ~(SlabBits(1) << index);
  setFreeSlabs(granule, bits);
  if (!bits)
    unlink(granule);
  return granule + index * slabPages;
}

void SlabGranules::give(uint32_t page) {
  if (uint32_t granule = putBack(page))
    arenaAt(0).giveSlabGranule(granule);
}

/// Returns a granule that nobody needs any more, or 0.
uint32_t SlabGranules::putBack(uint32_t page) {
  Locked hold(lock);
  uint32_t granule = page & ~(granulePages - 1);
  SlabBits bits = freeSlabs(granule);
  if (!bits)
    link(granule);
  bits |= SlabBits(1) << (page - granule) / slabPages;
  setFreeSlabs(granule, bits);
  if (bits != allSlabs)
    return 0;
  // One granule is kept, so that a slab that comes and goes costs little.
  if (!spare) {
    spare = granule;
    return 0;
  }
  unlink(granule);
  return granule;
}

uint32_t SlabGranules::takeSpare() {
  Locked hold(lock);
  uint32_t granule = spare;
  if (granule)
    unlink(granule);
  spare = 0;
  return granule;
}

void SlabGranules::releaseSpare() {
  if (uint32_t granule = takeSpare())
    arenaAt(0).giveSlabGranule(granule);
}
