// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Heap.h.

#include "heap/Heap.h"
#include "base/Check.h"

#include "base/AllocationSites.h"
#include "heap/Collapse.h"
#include "heap/HeapChecks.h"
#include "heap/HeapLarge.h"
#include "heap/HeapMedium.h"
#include "heap/HeapSlabs.h"
#include "heap/HeapWalk.h"
#include "pages/Shortage.h"

#include <errno.h>
#include <string.h>

using namespace mpg;

// Start

namespace {

enum class Use : uint8_t { undecided, ours, next };

struct Heap {
  std::atomic<Use> use{Use::undecided};
  FutexLock starting;
  bool mayUseNext = true; ///< when the range is full
  /// The next malloc has been asked, so that a pointer may be its.
  std::atomic<bool> nextIsUsed{false};
  bool isLocked = false; ///< for the fork that goes on
};

} // namespace

static Heap heap;
std::atomic<bool> mpg::passesOn{false};
static __thread bool isStarting __attribute__((tls_model("initial-exec")));

bool mpg::heapIsOurs() {
  Use use = heap.use.load(std::memory_order_acquire);
  if (__builtin_expect(use != Use::undecided, 1))
    return use == Use::ours;
  if (isStarting || !&nextMalloc) // what the start itself allocates; see Heap.h
    return false;
  Locked hold(heap.starting);
  if (heap.use.load(std::memory_order_relaxed) == Use::undecided) {
    isStarting = true;
    findNextMalloc();
    use = decideHeap() ? Use::ours : Use::next;
    passesOn.store(use == Use::next && watchedBytes == SIZE_MAX,
                   std::memory_order_release);
    heap.use.store(use, std::memory_order_release);
    isStarting = false;
  }
  return heap.use.load(std::memory_order_relaxed) == Use::ours;
}

bool mpg::startHeap(const Config &config, Messages &messages) {
  startChecks(config);
  largeSettings.threshold = config.mmapThresholdBytes;
  largeSettings.maxBlocks = config.mmapMax;
  largeSettings.always = config.forceMmapThreshold;
  heap.mayUseNext = config.fallback;
  return heapSpace.start(config, messages) && startArenas(config) &&
         startCaches();
}

// A single thread locks nothing: a lock that is already held is its own, of a
// call that a signal handler interrupted to fork, and the child returns to that
// call.
void mpg::lockHeap() {
  heap.isLocked = heap.use.load(std::memory_order_acquire) == Use::ours &&
                  !FutexLock::isOnlyThread();
  if (!heap.isLocked)
    return;
  lockCaches();
  lockArenas();
  heapSpace.lockAll();
}

void mpg::unlockHeap() {
  if (!heap.isLocked)
    return;
  heapSpace.unlockAll(/*inChild=*/false);
  unlockArenas(/*inChild=*/false);
  unlockCaches(/*inChild=*/false);
  settleCaches(); // no thread could meanwhile
}

void mpg::restartHeapInChild() {
  if (!heap.isLocked)
    return;
  heapSpace.unlockAll(/*inChild=*/true);
  unlockArenas(/*inChild=*/true);
  unlockCaches(/*inChild=*/true);
  forgetOtherThreads();
}

bool mpg::setThreshold(uint64_t bytes) {
  if (arenaSettings.trimBytes == UINT64_MAX) // ARENA_FREE=2 decides
    return false;
  largeSettings.threshold = bytes;
  return true;
}

bool mpg::setTrimThreshold(uint64_t bytes) {
  if (arenaSettings.trimBytes == UINT64_MAX)
    return false;
  arenaSettings.trimBytes = bytes;
  for (ThreadCache *cache = firstCache(); cache; cache = cache->nextOfAll)
    cache->medium.forgetRoom();
  return true;
}

// The thread's cache

namespace {

/// The cache that the calling thread works with: its own, or the late one.
class UsedCache {
public:
  UsedCache() : cache(ownCache()), isLate(!cache) {
    if (isLate)
      cache = lateCache();
    else if (!heapChecks.seesEveryCall())
      threadCache = cache;
  }
  ~UsedCache() {
    if (isLate)
      doneWithLateCache();
  }
  UsedCache(const UsedCache &) = delete;
  UsedCache &operator=(const UsedCache &) = delete;
  ThreadCache *operator->() { return cache; }
  ThreadCache &operator*() { return *cache; }

private:
  ThreadCache *cache;
  bool isLate;
};

/// A request: what is wanted, and what came of it.
struct Request {
  size_t bytes;
  size_t alignment = 16;
  /// Pages at its start that need not be zero.
  uint32_t dirtyPages = UINT32_MAX;
  int error = 0;
};

} // namespace

/// Work that is due now and then, where a thread's cache has no block.
static void doDueWork(ThreadCache &cache) {
  collapseAfterFork();
  // Blocks in the cache keep the large pages that they lie on.
  if (isIdleDue.load(std::memory_order_relaxed) && recycleIdleMemory())
    cache.medium.shrinkFor(SIZE_MAX);
}

static void *allocateSmall(unsigned sizeClass, Request &request) {
  UsedCache cache;
  if (void *object = cache->allocate(cache->bins[sizeClass]))
    return object;
  doDueWork(*cache);
  return cache->allocateSlowly(sizeClass, request.error);
}

/// First page of a block in use, or 0.
static uint32_t acquirePages(Request &request, ThreadCache &cache,
                             bool mayGrow) {
  doDueWork(cache);
  Arena &arena = lockArena(cache.arena);
  arena.lock.assertHeld();
  uint32_t page = arena.allocate(request.bytes, request.alignment, mayGrow,
                                 request.dirtyPages, request.error);
  cache.medium.start(arena, cachesInUse());
  Range block = page ? mediumBlock(page) : Range{};
  arena.unlock();
  // Also where others have written: free memory that is not zero may have new
  // pages at its end, or such as another thread is about to touch.
  heapSpace.pageIn(block);
  return page;
}

/// Returns the first byte of a block in use. A long one in new memory that
/// comes by touching has no edges: they would make pages present that the
/// program may not write to.
static void *finishMedium(uint32_t page, const Request &request) {
  constexpr size_t minBareBytes = 64 << 10;
  bool isBare = request.bytes >= minBareBytes && request.dirtyPages == 0 &&
                heapSpace.mayWait();
  return isBare ? withoutEdges(page) : setEdges(page, request.bytes);
}

static void *allocateMedium(Request &request, bool mayGrow) {
  UsedCache cache;
  uint32_t page = acquirePages(request, *cache, /*mayGrow=*/false);
  while (!page && cache->medium.shrinkFor(request.bytes))
    page = acquirePages(request, *cache, /*mayGrow=*/false);
  if (!page && mayGrow)
    page = acquirePages(request, *cache, /*mayGrow=*/true);
  return page ? finishMedium(page, request) : nullptr;
}

/// Blocks above maxSmallBytes, and those with a large alignment.
static void *allocateBig(Request &request) {
  if (request.bytes >= heapSpace.range().bytes()) {
    request.error = ENOSPC;
    return nullptr;
  }
  if (request.bytes == 0) // with an alignment above that of any class
    request.bytes = 1;
  bool fitsArena = request.alignment <= heapSpace.hugePageBytes();
  bool isLarge =
      request.bytes >= largeSettings.threshold.load(std::memory_order_relaxed);
  if (fitsArena && isLarge && !largeSettings.always)
    if (void *block = allocateMedium(request, /*mayGrow=*/false))
      return block;
  auto pages = HeapPages::large;
  if (fitsArena && !(isLarge && mayHaveLarge())) {
    void *block = allocateMedium(request, /*mayGrow=*/true);
    if (block || request.error)
      return block;
    pages = HeapPages::base;
  }
  bool isDirty;
  uintptr_t block = allocateLarge(request.bytes, request.alignment, pages,
                                  isDirty, request.error);
  request.dirtyPages = isDirty ? UINT32_MAX : 0;
  return reinterpret_cast<void *>(block);
}

/// Returns free memory to the system after a limit on memory has refused
/// \p bytes. False: there was none, or too little.
static bool makeRoom(size_t bytes) {
  if (isLockedIn)
    return false;
  uint64_t mapped = heapSpace.mapped().all();
  uint64_t left = readMemoryLimit().leftBytes, promises = readPromisesLeft();
  left = promises < left ? promises : left;
  if (left == UINT64_MAX || bytes > left + mapped)
    return false;
  freeUnusedPages();
  heapSpace.recycleKept();
  for (unsigned i = 0; i < arenaCount(); ++i)
    arenaAt(uint16_t(i)).trim(0);
  return heapSpace.mapped().all() < mapped;
}

/// Falls back to the next malloc when the range is full, or when a limit on
/// address space has room for the block but not for a frame.
static void *allocateNext(size_t bytes, size_t alignment) {
  heap.nextIsUsed.store(true, std::memory_order_relaxed);
  auto attempt = [=] {
    return alignment <= 16 ? nextMalloc.malloc(bytes)
                           : nextMalloc.memalign(alignment, bytes);
  };
  void *block = attempt();
  return !block && makeRoom(bytes) ? attempt() : block;
}

static void *allocateOwn(Request &request) {
  size_t objectBytes = request.bytes <= maxSmallBytes
                           ? alignedBytes(request.bytes, request.alignment)
                           : SIZE_MAX;
  return objectBytes <= maxSmallBytes
             ? allocateSmall(getClass(objectBytes), request)
             : allocateBig(request);
}

static void *allocate(Request &request) {
  size_t asked = request.bytes;
  request.bytes = withGuard(asked);
  if (request.bytes > PTRDIFF_MAX || request.alignment > PTRDIFF_MAX) {
    errno = ENOMEM;
    return nullptr;
  }
  int saved = errno;
  void *block = allocateOwn(request), *other = nullptr;
  bool isShort = !block && (request.error == ENOSPC || request.error == ENOMEM);
  if (isShort && heap.mayUseNext)
    other = allocateNext(asked, request.alignment);
  if (isShort && !other && request.bytes < heapSpace.mapped().all()) {
    // The blocks and slabs that the thread keeps may serve for other sizes.
    freeUnusedPages();
    request.error = 0;
    block = allocateOwn(request);
  }
  errno = block || other ? saved : ENOMEM;
  if (block && heapChecks.seesEveryCall()) {
    setGuard(findPlace(block).block, asked);
    perturbNew(block, asked);
  }
  if (other)
    request.dirtyPages = UINT32_MAX;
  return block ? block : other;
}

void *mpg::allocateBlock(size_t bytes) {
  if (!heapIsOurs())
    return watched(nextMalloc.malloc(bytes), bytes);
  Request request{bytes};
  return watched(allocate(request), bytes);
}

/// First page of a long block that the thread has freed, or 0.
static uint32_t acquireCached(size_t bytes) {
  MediumCache &cache = threadCache->medium;
  if (bytes > MediumCache::maxLongBytes)
    return 0;
  bool isLong = bytes > MediumCache::maxBlockBytes;
  uint32_t page = isLong ? cache.acquireLong(bytes) : 0;
  if (page)
    doDueWork(*threadCache); // a program that goes on so has no other slow path
  else
    cache.noteMiss(bytes);
  return page;
}

/// Fetches what malloc() of \p bytes writes to first if it takes the block
/// behind \p block, of \p page, as the next one often does. Taking a lock waits
/// for earlier writes, and these would miss the caches. To find the pages of
/// long blocks takes longer, and what the program does with one far longer.
static void prefetchNext(uint32_t page, uintptr_t block, size_t bytes) {
  const UnitEntry &entry = heapMap.pages[page];
  if (bytes >= hugeFrameBytes ||
      entry.state != UnitState::used) // the length of packed ones may change
    return;
  uintptr_t next = block + entry.length * heapPageBytes +
                   colorStepBytes; // the shift grows by one step
  const uintptr_t written[] = {next - 8, next, next + computeTail(bytes)};
  for (uintptr_t address : written)
    __builtin_prefetch(reinterpret_cast<void *>(address), /*write=*/1);
}

void *mpg::allocateMediumBlock(size_t bytes) {
  if (bytes >= largeSettings.threshold.load(std::memory_order_relaxed) ||
      bytes >= heapSpace.range().bytes() || heapChecks.seesEveryCall())
    return allocateBlock(bytes);
  MediumCache &cache = threadCache->medium;
  cache.settle();
  if (bytes <= MediumCache::maxBlockBytes)
    if (uint64_t lists = cache.find(bytes))
      return cache.acquire(lists, bytes);
  if (uint32_t page = acquireCached(bytes))
    return watched(setEdges(page, bytes), bytes);
  int saved = errno;
  Request request{bytes};
  uint32_t page = acquirePages(request, *threadCache, /*mayGrow=*/false);
  errno = saved;
  if (!page)
    return allocateBlock(bytes);
  void *block = finishMedium(page, request);
  prefetchNext(page, uintptr_t(block), bytes);
  return watched(block, bytes);
}

void *mpg::allocateAligned(size_t alignment, size_t bytes) {
  MPG_CHECK(isPowerOfTwo(alignment));
  if (!heapIsOurs())
    return watched(nextMalloc.memalign(alignment, bytes), bytes);
  Request request{bytes};
  request.alignment = alignment;
  return watched(allocate(request), bytes);
}

void *mpg::allocateZeroed(size_t bytes) {
  if (!heapIsOurs())
    return watched(nextMalloc.calloc(1, bytes), bytes);
  Request request{bytes};
  void *block = allocate(request);
  if (!block)
    return nullptr;
  size_t dirty = size_t(request.dirtyPages) * heapPageBytes;
  auto start = uintptr_t(block);
  heapSpace.clear(
      {start, start + (dirty < bytes && !heapChecks.perturb ? dirty : bytes)});
  return watched(block, bytes);
}

void *mpg::allocateOnNode(size_t bytes, int node) {
  size_t padded = withGuard(bytes);
  Arena *arena =
      padded < heapSpace.range().bytes() ? arenaOfNode(node) : nullptr;
  int error = ENOMEM;
  uint32_t dirtyPages;
  uint32_t page = 0;
  if (arena) {
    arena->lock.lock();
    page = arena->allocate(padded ? padded : 1, 16, true, dirtyPages, error);
    arena->unlock();
  }
  if (!page) {
    errno = ENOMEM;
    return nullptr;
  }
  setGuard(mediumBlock(page), bytes);
  return watched(setEdges(page, bytes), bytes);
}

// Owners of pointers

/// Whether \p address is in front of a packed block that begins with \p page.
static bool isBeforePacked(uintptr_t address, uint32_t page) {
  return isPackedBlock(heapMap.pages[page].state) &&
         address < mediumBlock(page).start;
}

/// The block that \p address is part of, for a pointer that is not its start.
static BlockPlace makeInside(uintptr_t address) {
  BlockPlace place;
  place.kind = BlockPlace::freed;
  uint32_t first = getPage(address), large;
  while (!(large = largePages(first)) && first > 0 &&
         (heapMap.pages[first].state == UnitState::inside ||
          isBeforePacked(address, first)))
    --first;
  UnitState state = heapMap.pages[first].state;
  bool isUsed = large || isMediumBlock(state);
  bool isFreed = state == UnitState::cached || state == UnitState::packedFree;
  if (isUsed || isFreed)
    place.block = large ? largeBlock(first, large) : mediumBlock(first);
  // A packed block may have the whole page on which a freed one began.
  if (address >= place.block.end)
    place.block = {};
  if (isUsed && !place.block.empty())
    place.kind = BlockPlace::inside;
  return place;
}

static BlockPlace placeInSlab(Slab &slab, uintptr_t address, size_t offset) {
  BlockPlace place;
  size_t at = offset % slabBytes;
  auto *object = reinterpret_cast<const FreeObject *>(address);
  place.slab = &slab;
  place.block = objectAt(slab, address - at, at);
  place.kind = BlockPlace::freed;
  if (isObjectStart(slab, at) && object->mark != getMark(object))
    place.kind = BlockPlace::small;
  else if (place.block.start != address &&
           at < slab.freshBytes.load(std::memory_order_relaxed))
    place.kind = BlockPlace::inside;
  return place;
}

static BlockPlace placeInPages(uintptr_t address) {
  uint32_t page = getPage(address), frame = getFramePage(page);
  BlockPlace place;
  if (uint32_t pages = largePages(frame)) {
    place.kind = BlockPlace::large;
    place.page = frame;
    place.block = largeBlock(frame, pages);
  } else if (heapSpace.isLost(address)) {
    return {};
  } else if (isMediumBlock(heapMap.pages[page].state)) {
    place.kind = BlockPlace::medium;
    place.page = page;
    place.block = mediumBlock(page);
  } else {
    return makeInside(address);
  }
  if (place.block.start == address)
    return place;
  place.kind = BlockPlace::inside;
  // On that page another block may end.
  BlockPlace other = makeInside(address);
  return other.kind == BlockPlace::inside ? other : place;
}

BlockPlace mpg::findPlace(const void *pointer) {
  uintptr_t address = uintptr_t(pointer), offset = address - heapMap.base;
  if (offset >= heapMap.openBytes.load(std::memory_order_relaxed))
    return {};
  Slab &slab = slabAt(offset);
  if (slab.owner.load(std::memory_order_relaxed))
    return placeInSlab(slab, address, offset);
  return placeInPages(address);
}

/// Whether memory that is not ours is the next malloc's.
static bool isNexts() {
  if (heap.nextIsUsed.load(std::memory_order_relaxed))
    return true;
  bool isUsed = nextMallocIsUsed();
  if (isUsed)
    heap.nextIsUsed.store(true, std::memory_order_relaxed);
  return isUsed;
}

/// Whether \p block is for the next malloc; else \p place is where it is.
static bool isForNext(const void *block, BlockPlace &place) {
  if (!heapIsOurs())
    return true;
  place = findPlace(block);
  // Where the heap has returned memory, another mapping may be.
  bool isElsewhere = place.kind == BlockPlace::foreign ||
                     (place.kind == BlockPlace::freed &&
                      !heapSpace.hasMemory(uintptr_t(block)));
  return isElsewhere && isNexts();
}

/// Reports what is wrong with a pointer that is not a block.
static void complain(const BlockPlace &place, const char *function,
                     const void *pointer, uintptr_t caller) {
  HeapError error = place.kind == BlockPlace::foreign  ? HeapError::notOurs
                    : place.kind == BlockPlace::inside ? HeapError::insideBlock
                                                       : HeapError::freedBefore;
  damage(error, function, pointer, place.block, caller);
}

// Free

static void freeSmall(const BlockPlace &place, void *pointer) {
  auto *object = static_cast<FreeObject *>(pointer);
  size_t bytes = place.block.bytes();
  perturbFreed(pointer, bytes);
  UsedCache cache;
  ThreadCache *owner = place.slab->owner.load(std::memory_order_relaxed);
  if (owner == &*cache)
    cache->free(*place.slab, object);
  else
    cache->sendHome(*owner, *place.slab, object);
}

void mpg::freeMedium(uint32_t page) {
  MPG_CHECK(isMediumBlock(heapMap.pages[page].state) && threadCache);
  MediumCache &cache = threadCache->medium;
  Range block = mediumBlock(page);
  unwatch(reinterpret_cast<void *>(block.start), block.bytes());
  perturbFreed(reinterpret_cast<void *>(block.start), block.bytes());
  if (cache.recycleLong(page))
    return;
  int saved = errno;
  if (!cache.recycleForOthers(page))
    arenaAt(heapMap.pages[page].owner).free(page, cache.bytes());
  cache.notePassed(block.bytes());
  errno = saved;
}

/// The usable bytes of a block in use. \p wrongByte: the first byte around it
/// that the program overwrote although it must not, or 0.
static Range getUsable(const BlockPlace &place, uintptr_t &wrongByte) {
  if (heapChecks.guards || place.kind != BlockPlace::medium) {
    uintptr_t start = place.block.start;
    return {start, start + readGuard(place.block, wrongByte)};
  }
  wrongByte = wrongByteAround(place.page);
  return usableBlock(place.page);
}

/// Looks at what is around the bytes that were asked for.
static void checkAround(const BlockPlace &place, const char *function,
                        void *pointer, uintptr_t caller) {
  uintptr_t wrongByte;
  Range usable = getUsable(place, wrongByte);
  if (wrongByte)
    damage(HeapError::writtenAround, function, pointer, usable, caller,
           wrongByte);
}

/// pre: a block in use.
static void release(const BlockPlace &place, void *block) {
  if (place.kind == BlockPlace::small)
    freeSmall(place, block);
  else if (place.kind == BlockPlace::medium) {
    if (wrongByteAround(place.page)) // the next malloc() writes new ones
      withoutEdges(place.page);
    freeMedium(place.page);
  } else {
    unwatch(reinterpret_cast<void *>(place.block.start), SIZE_MAX - 1);
    freeLarge(place.page);
  }
}

void mpg::freeBlock(void *block, uintptr_t caller) {
  if (!block)
    return;
  int saved = errno;
  BlockPlace place;
  if (isForNext(block, place)) {
    unwatch(block, SIZE_MAX - 1); // of any size
    nextMalloc.free(block);
  } else if (!place.isInUse()) {
    complain(place, "free", block, caller);
  } else {
    checkAround(place, "free", block, caller);
    release(place, block);
  }
  errno = saved;
}

// Sizes

size_t mpg::usableBytes(void *block) {
  if (!block)
    return 0;
  BlockPlace place;
  if (isForNext(block, place))
    return nextMalloc.usableSize(block);
  uintptr_t wrongByte;
  return place.isInUse() ? getUsable(place, wrongByte).bytes() : 0;
}

/// Maximum of spare room in a block of pages.
static constexpr size_t maxRoom = 1 << 20;

/// Whether \p block may have \p bytes where it is.
static bool resizeInPlace(const BlockPlace &place, size_t bytes) {
  bool fits = bytes <= place.block.bytes();
  if (place.kind == BlockPlace::small)
    return fits && (bytes >= place.block.bytes() / 2 || bytes == 0);
  if (bytes <= maxSmallBytes || bytes >= heapSpace.range().bytes())
    return false;
  uint64_t threshold = largeSettings.threshold.load(std::memory_order_relaxed);
  if (place.kind == BlockPlace::large)
    return (bytes >= threshold || bytes >= heapSpace.hugePageBytes()) &&
           resizeLarge(place.page, bytes);
  if (!fits && bytes >= threshold)
    return false;
  size_t rest = fits ? place.block.bytes() - bytes : SIZE_MAX;
  if (rest <= maxRoom && rest <= place.block.bytes() / 8)
    return true;
  Arena &arena = arenaAt(heapMap.pages[place.page].owner);
  if (arena.resize(place.page, bytes))
    return true;
  // The thread may have what follows in its cache.
  uint32_t end = getPage(place.block.end);
  MediumCache &cache = threadCache->medium;
  if (heapMap.pages[end].state != UnitState::cached || cache.bytes() == 0)
    return false;
  cache.clear();
  return arena.resize(place.page, bytes);
}

/// Marks the end of a block in use that is for \p bytes from here on.
static void markAround(void *block, size_t bytes) {
  BlockPlace place = findPlace(block);
  setGuard(place.block, bytes);
  if (place.kind == BlockPlace::medium)
    setEdges(place.page, bytes);
}

/// The same block, another one with its contents, or null.
static void *resizeOrMove(const BlockPlace &place, void *block, size_t bytes) {
  int saved = errno;
  uintptr_t wrongByte;
  size_t oldBytes = getUsable(place, wrongByte).bytes();
  if (resizeInPlace(place, withGuard(bytes))) {
    markAround(block, bytes);
    if (__builtin_expect(bytes >= watchedBytes || oldBytes >= watchedBytes, 0))
      noteResized(block, bytes);
    errno = saved;
    return block;
  }
  // A block that has grown once will grow again: with spare room not every step
  // copies.
  constexpr size_t minBytes = 64 << 10;
  size_t room = 0;
  if (bytes > oldBytes && bytes >= minBytes && !heapChecks.guards)
    room = bytes / 8 < maxRoom ? bytes / 8 : maxRoom;
  void *other = allocateBlock(bytes + room);
  if (!other && room)
    other = allocateBlock(bytes);
  if (other)
    memcpy(other, block, oldBytes < bytes ? oldBytes : bytes);
  if (other && room)
    markAround(other, bytes);
  return other;
}

void *mpg::reallocateBlock(void *block, size_t bytes, uintptr_t caller) {
  if (!block)
    return allocateBlock(bytes);
  BlockPlace place;
  if (isForNext(block, place)) {
    unwatch(block, SIZE_MAX - 1); // before another thread gets it
    int saved = errno;
    void *other = nextMalloc.realloc(block, bytes);
    if (!other && bytes && makeRoom(bytes))
      other = nextMalloc.realloc(block, bytes);
    errno = other || !bytes ? saved : ENOMEM;
    return watched(other, bytes);
  }
  if (!place.isInUse()) {
    complain(place, "realloc", block, caller);
    errno = ENOMEM;
    return nullptr;
  }
  size_t padded = withGuard(bytes);
  if (padded > PTRDIFF_MAX) {
    errno = ENOMEM;
    return nullptr;
  }
  checkAround(place, "realloc", block, caller);
  int saved = errno;
  void *result = bytes == 0 ? nullptr : resizeOrMove(place, block, bytes);
  // No memory: the block stays as it is.
  if (result == block || (bytes && !result))
    return result;
  release(place, block);
  errno = saved;
  return result;
}
