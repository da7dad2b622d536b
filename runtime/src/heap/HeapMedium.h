// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Medium blocks: runs of 4 KiB pages in the frames of an arena. The page is
// the unit, not 64 KiB, because the shift that keeps equal arrays out of the
// same sets of the L1 cache then costs 4 KiB a block and not a frame.
//
// An arena owns memory and a lock. Any thread can free a block into the arena
// it came from: at once if the lock is free, else through a list that the next
// owner of the lock empties, so no thread waits to free.
//
// Blocks that glibc would not map have edges, at the end of this file.

#pragma once

#include "base/Check.h"
#include "heap/PageChoice.h"

namespace mpg {

constexpr size_t colorStepBytes = 256;             ///< a line, HW:a64fx-l1d-way
constexpr size_t minColoredBytes = 16 << 10;       ///< a way, HW:a64fx-l1d-way
constexpr size_t maxEdgedBytes = (128 << 10) - 24; ///< more is mapped by glibc

/// The settings of arenas; mallopt() changes some of them.
struct ArenaSettings {
  std::atomic<bool> coloring{true};
  size_t maxEdgedBytes = mpg::maxEdgedBytes;  ///< or 0; set once, at the start
  std::atomic<uint64_t> trimBytes{128 << 20}; ///< UINT64_MAX: never
  std::atomic<uint64_t> topPadBytes{128 << 10};
  std::atomic<uint64_t> heapStepBytes{0}; ///< of threads' arenas; 0: by need
};
extern ArenaSettings arenaSettings;

/// How a block of some size is cut.
struct MediumShape {
  uint32_t pages;
  unsigned colors; ///< starts to choose from; 1: the first byte of its pages
  bool hasFront;   ///< the first of them is for what is in front of the block

  /// Which start \p color is, in steps.
  uint8_t parseShift(unsigned color) const {
    bool leaves = hasFront && colors > 1;
    return uint8_t(leaves ? 1 + color % (colors - 1) : color % colors);
  }
};
constexpr unsigned enoughColors = 8; ///< else the block gets more room
/// Whether a block begins at one of several places. From a step below a way on:
/// MediumCache.h has one entry for all sizes of a step.
inline bool isColored(size_t bytes, size_t alignment) {
  return (bytes > minColoredBytes - colorStepBytes) &
         (alignment <= colorStepBytes) &
         arenaSettings.coloring.load(std::memory_order_relaxed);
}

/// Pages that \p bytes from the start of one take.
constexpr uint32_t countPages(size_t bytes) {
  return uint32_t((bytes + heapPageBytes - 1) / heapPageBytes);
}

/// The pages of a block that is coloured or not.
constexpr uint32_t countPages(size_t bytes, bool isColored) {
  uint32_t pages = countPages(bytes);
  size_t places = pages * heapPageBytes - bytes + colorStepBytes;
  // For blocks of 20, 24 and 28 KiB a page more is much, and side by side they
  // already begin at two or four places of a way.
  bool mayGetMore =
      pages >= 8 || pages % (minColoredBytes / heapPageBytes) == 0;
  return pages +
         (isColored && mayGetMore && places < enoughColors * colorStepBytes);
}

/// The same. pre: bytes is at most that of the heap's range.
inline uint32_t computePages(size_t bytes, size_t alignment) {
  return countPages(bytes, isColored(bytes, alignment));
}

/// pre: as above.
inline MediumShape computeShape(size_t bytes, size_t alignment) {
  constexpr unsigned max = heapPageBytes / colorStepBytes;
  uint32_t pages = computePages(bytes, alignment);
  bool hasFront = bytes <= maxEdgedBytes;
  if (!isColored(bytes, alignment))
    return {pages, 1, hasFront};
  auto colors = unsigned((pages * heapPageBytes - bytes) / colorStepBytes + 1);
  return {pages, colors < max ? colors : max, hasFront};
}

class Arena {
public:
  void start(uint16_t number, int node);

  /// First page of a block of at least \p bytes, its start a multiple of
  /// \p alignment, a power of two of at most one frame. 0: \p error is ENOMEM
  /// or ENOSPC (as HeapSpace::take), or 0: the block should have frames of its
  /// own, on base pages. \p dirtyPages: so many of its pages, the first ones,
  /// may have been written to; the others are zero. \p mayGrow false: only what
  /// is free already.
  uint32_t allocate(size_t bytes, size_t alignment, bool mayGrow,
                    uint32_t &dirtyPages, int &error) MPG_REQUIRES(lock);

  /// A frame for slabs, its first page; 0: \p error.
  uint32_t acquireSlabFrame(int &error) MPG_REQUIRES(lock);

  /// Takes in what others have freed.
  void emptyQueue() MPG_REQUIRES(lock);

  /// Releases lock.lock(), and returns surplus memory to the system.
  void unlock() MPG_RELEASES(lock);

  /// In a forked child: forgets it, for the links may be of another moment.
  void dropQueue() { queue.store(0, std::memory_order_relaxed); }

  /// \p besideBytes: so much more of the arena is free, in the thread's cache.
  /// pre: \p page is the first page of a block of this arena, in use or cached.
  void free(uint32_t page, uint64_t besideBytes = 0) MPG_EXCLUDES(lock);

  /// Makes a block shorter or longer where it is; false: it could not be.
  bool resize(uint32_t page, size_t bytes) MPG_EXCLUDES(lock);

  /// Takes back what acquireSlabFrame() gave.
  void recycleSlabFrame(uint32_t page) MPG_EXCLUDES(lock);

  /// Keeps less of the memory that has been free since the last call.
  void recycleIdle() MPG_EXCLUDES(lock);

  /// Gives all free frames back, but \p keepBytes of free memory. Returns
  /// whether there were any.
  bool trim(uint64_t keepBytes) MPG_EXCLUDES(lock);

  /// Gives the base pages of free runs back, but \p keepBytes of free memory.
  /// This splits transparent huge pages. Returns whether any went.
  bool trimPages(uint64_t keepBytes) MPG_EXCLUDES(lock);

  uint64_t mapped() const MPG_REQUIRES(lock) { return mappedBytes; }
  uint16_t number() const { return id; }
  bool isOfNode() const { return node >= 0; }
  bool isOn(int number) const { return node == number; }

  FutexLock lock;
  Arena *nextReleased = nullptr; ///< of the list of arenas without a thread

private:
  uint32_t acquire(uint32_t pages, uint32_t alignment, PageChoice *growth,
                   uint32_t &dirtyPages, int &error) MPG_REQUIRES(lock);
  bool leavesRest(uint32_t pages) const MPG_REQUIRES(lock);
  bool leavesToFrames(const PageChoice &choice, uint64_t bytes)
      MPG_REQUIRES(lock);
  FreeRuns::Run acquireFree(uint32_t pages, uint32_t alignment)
      MPG_REQUIRES(lock);
  FreeRuns::Run keepPart(FreeRuns::Run run, uint32_t pages, uint32_t place)
      MPG_REQUIRES(lock);
  FreeRuns::Run grow(uint32_t pages, uint32_t alignment, PageChoice &choice,
                     int &error) MPG_REQUIRES(lock);
  FreeRuns::Run addMemory(uintptr_t start, uint64_t needBytes,
                          PageChoice &choice, int &error) MPG_REQUIRES(lock);
  uint64_t stepBytes(uint64_t needBytes) const MPG_REQUIRES(lock);
  PageChoice &choiceFor(uint64_t blockBytes) MPG_REQUIRES(lock) {
    return blockBytes < hugeFrameBytes ? forBlocks : forLongBlocks;
  }
  void setKept(uint64_t bytes) MPG_REQUIRES(lock);
  uint64_t limitKept(uint64_t wanted, uint64_t step) const MPG_REQUIRES(lock);
  void keepReturned(uint64_t bytes) MPG_REQUIRES(lock);
  void keepLess() MPG_REQUIRES(lock);
  void noteFree(uint64_t free, uint64_t bytes) MPG_REQUIRES(lock);
  uint64_t returnRuns(uint64_t keepBytes) MPG_REQUIRES(lock);
  void returnPieces(uint64_t freedBytes, uint64_t keepBytes) MPG_REQUIRES(lock);
  void recycleRun(uint32_t page, uint32_t pages, uint64_t besideBytes = 0)
      MPG_REQUIRES(lock);
  void recycle(uint32_t page, uint64_t besideBytes = 0) MPG_REQUIRES(lock);
  bool resizeTo(uint32_t page, uint32_t pages) MPG_REQUIRES(lock);
  bool lengthen(uint32_t end, uint32_t more) MPG_REQUIRES(lock);
  uint64_t returnFrames(FreeRuns::Run run, uint64_t max) MPG_REQUIRES(lock);

  // Blocks that share pages, in HeapPacked.cpp.

  void beginPacked(uint32_t page, uint32_t pages, size_t shift, size_t bytes,
                   uint32_t before, bool isZero) MPG_REQUIRES(lock);
  /// Makes a new block of whole pages a packed one, if it has room.
  void pack(uint32_t page, size_t bytes, bool isZero) MPG_REQUIRES(lock);
  /// A block on the page where the last one ends; 0: none. \p dirtyPages: as
  /// allocate().
  uint32_t appendPacked(size_t bytes, uint32_t &dirtyPages) MPG_REQUIRES(lock);
  /// One of those that were freed and kept whole; 0: none.
  uint32_t reusePacked(size_t bytes) MPG_REQUIRES(lock);
  void list(uint32_t page) MPG_REQUIRES(lock);
  void unlist(uint32_t page) MPG_REQUIRES(lock);
  /// It shares its last page no more, nor will it.
  void leaveLast(uint32_t page) MPG_REQUIRES(lock);
  void dissolve(uint32_t page, uint64_t besideBytes = 0) MPG_REQUIRES(lock);
  void recyclePacked(uint32_t page, uint64_t besideBytes) MPG_REQUIRES(lock);
  bool keepsTooMuch() const MPG_REQUIRES(lock);
  /// Of those that were freed and kept whole.
  void dissolveFirst() MPG_REQUIRES(lock);
  void dissolveListed() MPG_REQUIRES(lock) {
    while (firstListed)
      dissolveFirst();
  }
  bool resizePacked(uint32_t page, size_t bytes) MPG_REQUIRES(lock);

  uint16_t id = 0;
  int node = -1; ///< NUMA node of all its memory; -1: as it comes
  unsigned color MPG_GUARDED_BY(lock) = 0;
  /// The first block has been taken.
  bool isScattered MPG_GUARDED_BY(lock) = false;
  uint64_t mappedBytes MPG_GUARDED_BY(lock) = 0;
  /// Gave back and has not needed since.
  uint64_t returnedBytes MPG_GUARDED_BY(lock) = 0;
  uint64_t freedInPieces MPG_GUARDED_BY(lock) = 0; ///< since the last search
  /// Free memory that does not go back.
  uint64_t keptBytes MPG_GUARDED_BY(lock) = 0;
  /// Since the last keepLess(), with so many frees of so many bytes.
  uint64_t minFreeBytes MPG_GUARDED_BY(lock) = UINT64_MAX;
  uint64_t freedBytes MPG_GUARDED_BY(lock) = 0;
  uint32_t freesSeen MPG_GUARDED_BY(lock) = 0;
  /// Start and end of the memory that came last.
  uintptr_t newest MPG_GUARDED_BY(lock) = 0;
  uintptr_t top MPG_GUARDED_BY(lock) = 0;
  PageChoice forSlabs MPG_GUARDED_BY(lock){false};
  PageChoice forBlocks MPG_GUARDED_BY(lock){false};
  PageChoice forLongBlocks MPG_GUARDED_BY(lock){true}; ///< of a frame and more
  std::atomic<uint32_t> queue{0}; ///< blocks that others have freed
  /// Blocks in memory that others had, since the last one was freed.
  uint32_t taken MPG_GUARDED_BY(lock) = 0;
  /// Requests for long blocks in new memory, since one was freed.
  uint32_t grownInRow MPG_GUARDED_BY(lock) = 0;
  /// The packed block on whose last page the next one may begin.
  uint32_t lastPacked MPG_GUARDED_BY(lock) = 0;
  /// Of packed blocks that were freed and kept whole.
  uint32_t firstListed MPG_GUARDED_BY(lock) = 0;
  uint64_t listedBytes MPG_GUARDED_BY(lock) = 0;
  /// Runs that unlock() gives back, linked.
  uint32_t leaving MPG_GUARDED_BY(lock) = 0;
  FreeRuns runs MPG_GUARDED_BY(lock);
};

/// The arena in which medium blocks of the calling thread begin, by
/// ARENA_LOCK_TYPE and MAX_ARENA_NUM. \p held: the thread's so far, or null.
/// The arena's lock is held on return.
Arena &lockArena(Arena *&held);

/// Number \p number. pre: it has been made.
Arena &arenaAt(uint16_t number);
unsigned arenaCount();
bool eachThreadHasArena(); ///< ARENA_LOCK_TYPE=0

/// Whether an arena may keep memory that the program does not need any more.
extern std::atomic<bool> isIdleDue;
/// Gives some of it back, every other second; false: not now. pre: no lock of
/// an arena is held.
bool recycleIdleMemory();

/// An arena on one NUMA node; null: no memory for it.
Arena *arenaOfNode(int node);

/// A thread's arena when it ends: for the next one.
void releaseArena(Arena *arena);

/// At the start; false: no memory.
bool startArenas(const Config &config);

// The steps of a fork: locks everything here, and undoes that.
void lockArenas();
void unlockArenas(bool inChild);

/// The first page's number of the page that \p address lies on.
inline uint32_t getPage(uintptr_t address) {
  return uint32_t((address - heapMap.base) / heapPageBytes);
}
inline uintptr_t addressOfPage(uint32_t page) {
  return heapMap.base + uintptr_t(page) * heapPageBytes;
}

/// Whether \p state is that of a block in use, of an arena.
inline bool isMediumBlock(UnitState state) {
  return state == UnitState::used || state == UnitState::packed;
}

/// Whether \p state is that of a block of HeapPacked.cpp.
inline bool isPackedBlock(UnitState state) {
  return state == UnitState::packed || state == UnitState::packedFree;
}

/// The block whose first page is \p page.
/// pre: its entry is used, or freed and not yet a run.
inline Range mediumBlock(uint32_t page) {
  const UnitEntry &entry = heapMap.pages[page];
  UnitState state = entry.state;
  MPG_CHECK(isMediumBlock(state) || isPackedBlock(state) ||
            state == UnitState::cached);
  uintptr_t pages = addressOfPage(page);
  uintptr_t start = pages + entry.detail * colorStepBytes;
  if (isPackedBlock(state))
    return {start, start + heapMap.pages[page + 1].length};
  return {start, pages + entry.length * heapPageBytes};
}

/// The shift of the block whose entry has \p head, in bytes.
inline size_t getShift(uint32_t head) {
  static_assert(colorStepBytes == 1 << 8, "a detail in its place");
  return head >> (UnitEntry::detailAt - 8) & 0xff00;
}

// The edges of a medium block: a word after it, and one in front of it where
// those bytes are its own, that a program which writes where it should not
// overwrites. They are looked at when the block is freed or resized.
//
// The C library finds the same writes by the sizes between its blocks. The word
// after one is where its malloc has the next size: a program that gets away
// with writing a few bytes too many there does so here too. Blocks that the C
// library would map have no edges: their pages must not be written to before
// first touch has decided where they go.

/// Of a block of \p bytes that has edges: where the one after it is.
constexpr size_t computeTail(size_t bytes) {
  return roundUp(bytes + 8, 16) - 8;
}

inline uint64_t &edgeAt(uintptr_t address) {
  return *reinterpret_cast<uint64_t *>(address);
}
/// The expected value at \p address. Never the mark of a free object, which may
/// later be in the same place.
inline uint64_t computeEdge(uintptr_t address) {
  return heapMap.edgeMark ^ address;
}
/// Whether it is there.
inline bool isEdge(uintptr_t address) {
  return (edgeAt(address) ^ address) == heapMap.edgeMark;
}

/// Whether the bytes in front of \p start belong to the block that is there.
inline bool hasFront(uintptr_t start) {
  return __builtin_expect(start % heapPageBytes != 0, 1);
}

/// Sets the edges of the block of \p entry, in use, from \p start to \p end,
/// for the \p bytes that were asked for. Returns its first byte.
inline void *writeEdges(UnitEntry &entry, uintptr_t start, uintptr_t end,
                        size_t bytes) {
  uintptr_t tail = start + computeTail(bytes);
  bool hasEdges = bytes <= arenaSettings.maxEdgedBytes && tail + 8 <= end;
  if (hasEdges) {
    edgeAt(tail) = computeEdge(tail);
    if (hasFront(start)) // else the bytes in front are another block's
      edgeAt(start - 8) = computeEdge(start - 8);
  }
  entry.next = uint32_t(bytes); // by it a thread's cache recognises a block
  __atomic_store_n(&entry.previous, hasEdges ? uint32_t(bytes) : 0,
                   __ATOMIC_RELEASE);
  return reinterpret_cast<void *>(start);
}

/// The same for the block that begins with \p page.
inline void *setEdges(uint32_t page, size_t bytes) {
  Range block = mediumBlock(page);
  return writeEdges(heapMap.pages[page], block.start, block.end, bytes);
}

/// Whether the edges of the block of \p entry, in use, from \p start on are as
/// they were left.
inline bool edgesAreRight(const UnitEntry &entry, uintptr_t start) {
  uint32_t bytes = __atomic_load_n(&entry.previous, __ATOMIC_ACQUIRE);
  if (bytes == 0)
    return true;
  uintptr_t tail = start + computeTail(bytes);
  if (__builtin_expect(!isEdge(tail), 0))
    return false;
  return !hasFront(start) || __builtin_expect(isEdge(start - 8), 1);
}

/// The same without edges.
inline void *withoutEdges(uint32_t page) {
  __atomic_store_n(&heapMap.pages[page].previous, 0, __ATOMIC_RELEASE);
  return reinterpret_cast<void *>(mediumBlock(page).start);
}

/// The usable bytes of the block in use that begins with \p page.
inline Range usableBlock(uint32_t page) {
  Range block = mediumBlock(page);
  uint32_t bytes =
      __atomic_load_n(&heapMap.pages[page].previous, __ATOMIC_ACQUIRE);
  return {block.start, bytes ? block.start + computeTail(bytes) : block.end};
}

/// The first wrong byte of the edge at \p address, or 0.
inline uintptr_t findWrongByte(uintptr_t address) {
  uint64_t wrong = edgeAt(address) ^ computeEdge(address);
  return wrong ? address + unsigned(__builtin_ctzll(wrong)) / 8 : 0;
}

/// The first byte around a block in use that is not as it was left, or 0.
inline uintptr_t wrongByteAround(uint32_t page) {
  const UnitEntry &entry = heapMap.pages[page];
  Range usable = usableBlock(page);
  if (entry.previous == 0)
    return 0;
  uintptr_t front = entry.detail ? findWrongByte(usable.start - 8) : 0;
  return front ? front : findWrongByte(usable.end);
}

} // namespace mpg
