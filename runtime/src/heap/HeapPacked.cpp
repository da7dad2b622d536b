// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packed blocks: where a program writes to few pages of its blocks, one begins
// on the page on which another one ends, as with the C library. Blocks of which
// the first and the last bytes are written then take one page each, not two.
//
// The first entry of a packed block has the pages that are its own. Its last
// page is that of the block after it, if one begins there. The entry of its
// second page has its bytes, the block before it on its first page, and flags.
// No thread keeps such a block in its cache: all this changes under the lock.
//
// A freed block that shares a page is kept whole for a request of its size,
// because others could not use that page. It is dissolved into a free run
// before the arena grows. Little of it is present: so it goes back to the
// system only when the pages that are may be as many as free memory may have.

#include "heap/HeapMedium.h"

using namespace mpg;

// Flags. The last one: of its last page as far as the block does not reach.
static constexpr uint8_t sharesLast = 1, restIsZero = 2;

static UnitEntry &getNote(uint32_t page) { return heapMap.pages[page + 1]; }

/// The first page behind its pages, which may be one of another block.
static uint32_t getEnd(uint32_t page) {
  return page + heapMap.pages[page].length;
}

/// With its edges.
static size_t getRoom(size_t bytes) { return computeTail(bytes) + 8; }

void Arena::beginPacked(uint32_t page, uint32_t pages, size_t shift,
                        size_t bytes, uint32_t before, bool isZero) {
  MPG_CHECK(pages > 2 && shift + getRoom(bytes) <= pages * heapPageBytes);
  getNote(page) = {uint32_t(getRoom(bytes)),         before,           0, id,
                   isZero ? restIsZero : uint8_t(0), UnitState::inside};
  heapMap.pages[page] = {
      pages, 0, 0, id, uint8_t(shift / colorStepBytes), UnitState::packed};
  lastPacked = page;
}

void Arena::pack(uint32_t page, size_t bytes, bool isZero) {
  uint32_t pages = heapMap.pages[page].length;
  size_t shift = heapMap.pages[page].detail * colorStepBytes;
  uint32_t needed = countPages(shift + getRoom(bytes));
  if (needed > pages)
    return;
  if (needed < pages)
    runs.recycle({page + needed, pages - needed, isZero});
  beginPacked(page, needed, shift, bytes, 0, isZero);
}

uint32_t Arena::appendPacked(size_t bytes, uint32_t &dirtyPages) {
  constexpr size_t lineBytes = 64; // not shared by two blocks
  uint32_t before = lastPacked;
  if (!before)
    return 0;
  uintptr_t start =
      roundUp(mediumBlock(before).end + lineBytes, colorStepBytes);
  uint32_t page = getPage(start);
  if (page != getEnd(before) - 1)
    return 0;
  size_t shift = start % heapPageBytes;
  uint32_t pages = countPages(shift + getRoom(bytes));
  FreeRuns::Run rest = runs.acquireAt(page + 1, pages - 1);
  if (!rest.first)
    return 0;
  UnitEntry &note = getNote(before);
  bool startIsZero = note.detail & restIsZero;
  dirtyPages = !rest.isZero ? pages : startIsZero ? 0 : 1;
  --heapMap.pages[before].length;
  note.detail |= sharesLast;
  ++color; // blocks of whole pages begin one step further: the next one as well
  beginPacked(page, pages, shift, bytes, before, rest.isZero);
  return page;
}

uint32_t Arena::reusePacked(size_t bytes) {
  constexpr unsigned aMoment = 8;
  size_t room = getRoom(bytes);
  uint32_t page = firstListed;
  for (unsigned left = aMoment; page && left; --left) {
    size_t found = getNote(page).length;
    if (found >= room && found - room <= found / 4) {
      unlist(page);
      UnitEntry &entry = heapMap.pages[page];
      entry.next = entry.previous = 0;
      entry.state = UnitState::packed;
      return page;
    }
    page = heapMap.pages[page].next;
  }
  return 0;
}

void Arena::list(uint32_t page) {
  linkUnit(heapMap.pages, firstListed, page);
  listedBytes += getNote(page).length;
}

void Arena::unlist(uint32_t page) {
  unlinkUnit(heapMap.pages, firstListed, page);
  listedBytes -= getNote(page).length;
}

void Arena::leaveLast(uint32_t page) {
  UnitEntry &note = getNote(page);
  if (note.detail & sharesLast)
    getNote(getEnd(page)).next = 0;
  note.detail &= uint8_t(~sharesLast);
  if (lastPacked == page)
    lastPacked = 0;
}

void Arena::dissolve(uint32_t page, uint64_t besideBytes) {
  UnitEntry &entry = heapMap.pages[page];
  uint32_t before = getNote(page).next, pages = entry.length;
  leaveLast(page);
  entry.state = UnitState::inside;
  if (before) {
    ++heapMap.pages[before].length;
    getNote(before).detail &= uint8_t(~sharesLast);
    ++page;
    --pages;
  }
  recycleRun(page, pages, besideBytes);
}

void Arena::recyclePacked(uint32_t page, uint64_t besideBytes) {
  const UnitEntry &note = getNote(page);
  if (!note.next && !(note.detail & sharesLast))
    return dissolve(page, besideBytes);
  list(page);
  uint64_t free = runs.freeUnits() * heapPageBytes + listedBytes + besideBytes;
  // The last ones first, which may be neighbours. Where they are not, no frame
  // of them goes back, and soon the others follow.
  if (free >= mappedBytes / 8 * 7)
    while (firstListed && keepsTooMuch())
      dissolveFirst();
}

bool Arena::keepsTooMuch() const {
  uint64_t max = arenaSettings.trimBytes.load(std::memory_order_relaxed);
  uint64_t runBytes = runs.freeUnits() * heapPageBytes;
  return forBlocks.estimatePresent(listedBytes) >= max ||
         forBlocks.estimatePresent(runBytes) >= max / 2;
}

void Arena::dissolveFirst() {
  uint32_t page = firstListed;
  unlist(page);
  dissolve(page);
}

bool Arena::resizePacked(uint32_t page, size_t bytes) {
  UnitEntry &entry = heapMap.pages[page], &note = getNote(page);
  size_t room = getRoom(bytes);
  if (room > note.length)
    return false;
  if (lastPacked == page) // what follows it may have been written to
    lastPacked = 0;
  note.length = uint32_t(room);
  uint32_t pages = countPages(entry.detail * colorStepBytes + room);
  if (pages < entry.length) {
    leaveLast(page);
    uint32_t rest = entry.length - pages;
    entry.length = pages;
    recycleRun(page + pages, rest);
  }
  return true;
}
