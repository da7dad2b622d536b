// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry points of malloc. Nearly all calls end here, in the calling
// thread's cache; Heap.cpp has the rest. operator new and delete come through
// malloc and free.

#include "base/CLibrary.h"
#include "heap/Heap.h"
#include "heap/HeapLarge.h"
#include "mpg/mpg.h"
#include "pages/PagesNuma.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

using namespace mpg;

#define MPG_CALLER uintptr_t(__builtin_return_address(0))

// Those after us

#ifdef MPG_STATIC
extern "C" {
void *__real_malloc(size_t);
void __real_free(void *);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__real_memalign(size_t, size_t);
size_t __real_malloc_usable_size(void *);
struct MPG_LIBC_MALLINFO MPG_REAL(MPG_LIBC_MALLINFO)();
}

NextMalloc mpg::nextMalloc = {__real_malloc,   __real_free,
                              __real_calloc,   __real_realloc,
                              __real_memalign, __real_malloc_usable_size};

void mpg::findNextMalloc() {}

static bool nextIsLibc() { return true; }
#else
// Under these names they are the C library's, whatever else defines malloc.
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_memalign(size_t, size_t);
}

static size_t unknownSize(void *) { return 0; }
static void *startRealloc(void *, size_t) { return nullptr; }
static void startFree(void *) {}

// Until they are found: what dlsym() allocates is not given back.
NextMalloc mpg::nextMalloc = {__libc_malloc, startFree,       __libc_calloc,
                              startRealloc,  __libc_memalign, unknownSize};

// Before glibc 2.34 the C library's malloc calls what this points to. An
// allocator after us (jemalloc) makes it the malloc of the program, which is
// ours: they would call each other for ever, and without that call the C
// library's heap is not set up.
extern void *mallocHook __asm__("__malloc_hook") __attribute__((weak));

/// Serves dlsym()'s allocations meanwhile; never freed.
alignas(64) static char startMemory[4096];
static size_t startBytes;

static void *startMalloc(size_t bytes) {
  bytes = (bytes + 15) / 16 * 16;
  if (bytes > sizeof startMemory - startBytes)
    return nullptr;
  startBytes += bytes;
  return startMemory + startBytes - bytes;
}

static void *startCalloc(size_t count, size_t bytes) {
  return startMalloc(count * bytes);
}

static void *startMemalign(size_t, size_t) { return nullptr; }

static void (*freeOfNext)(void *);

static void freeUnlessOfStart(void *block) {
  if (uintptr_t(block) - uintptr_t(startMemory) >= sizeof startMemory)
    freeOfNext(block);
}

/// \p version: null for the one that dlsym() takes.
template <typename Function>
static Function *findNext(Function *, const char *name, const char *version) {
  void *found =
      version ? dlvsym(RTLD_NEXT, name, version) : dlsym(RTLD_NEXT, name);
  return reinterpret_cast<Function *>(found);
}

/// All of them or none: what one allocates another one of them may free.
void mpg::findNextMalloc() {
  if (&mallocHook && mallocHook == reinterpret_cast<void *>(malloc))
    nextMalloc = {startMalloc,  startFree,     startCalloc,
                  startRealloc, startMemalign, unknownSize};
  // libc_malloc_debug.so, which mtrace() needs, has its malloc only under the
  // version that programs ask for, where dlsym() does not look.
  bool isLibc = MPG_NEXT(malloc) == __libc_malloc;
  const char *version = isLibc ? MPG_FIRST_VERSION : nullptr;
  NextMalloc found = {
      findNext(malloc, "malloc", version),
      findNext(free, "free", version),
      findNext(calloc, "calloc", version),
      findNext(realloc, "realloc", version),
      findNext(memalign, "memalign", version),
      findNext(malloc_usable_size, "malloc_usable_size", version)};
  if (!found.malloc || !found.free || !found.calloc || !found.realloc ||
      !found.memalign || !found.usableSize)
    return;
  nextMalloc = found;
  if (startBytes) {
    freeOfNext = found.free;
    nextMalloc.free = freeUnlessOfStart;
  }
}

static bool nextIsLibc() { return nextMalloc.malloc == __libc_malloc; }
#endif

bool mpg::nextMallocIsUsed() {
  // A malloc other than the C library's brings its own operator new.
  if (!nextIsLibc())
    return true;
#ifdef MPG_STATIC
  auto *function = MPG_REAL(MPG_LIBC_MALLINFO);
#else
  auto *function = MPG_NEXT_OF(MPG_LIBC_MALLINFO);
#endif
  if (!function)
    return false;
  struct MPG_LIBC_MALLINFO info = function();
  return info.arena != 0 || info.hblks != 0;
}

// malloc and free

/// Whether \p object is a small block in use. pre: \p slab is the one at
/// \p offset, where \p object is, and has an owner.
static inline bool isUsed(const Slab &slab, const FreeObject *object,
                          size_t offset) {
  return __builtin_expect(isObjectStart(slab, offset % slabBytes), 1) &&
         __builtin_expect(object->mark != getMark(object), 1);
}

static void *allocatePages(ThreadCache &cache, size_t bytes);

/// The same after the block that was freed last has gone to its list.
[[gnu::noinline]] static void *allocateOtherPages(ThreadCache &cache,
                                                  size_t bytes) {
  cache.medium.leaveLast();
  return allocatePages(cache, bytes);
}

/// malloc() for more than maxSmallBytes where the block that was freed last
/// does not serve. Not inline: the others need none of its registers.
[[gnu::noinline]] static void *allocatePages(ThreadCache &cache, size_t bytes) {
  if (cache.medium.isForLists(bytes)) {
    if (__builtin_expect(cache.medium.hasLast(), 0))
      return allocateOtherPages(cache, bytes);
    if (uint64_t lists = cache.medium.find(bytes))
      return cache.medium.acquire(lists, bytes);
  }
  return cache.arena ? allocateMediumBlock(bytes) : allocateBlock(bytes);
}

MPG_EXPORT void *MPG_MALLOC(malloc)(size_t bytes) {
  ThreadCache *cache = threadCache;
  Bin *bin;
  if (__builtin_expect_with_probability(bytes <= maxTabledBytes, 1, 0.7)) {
    bin = cache->binOfSmallest[(bytes + 15) / 16];
  } else if (bytes <= maxSmallBytes) {
    bin = &cache->bins[getClass(bytes)];
  } else {
    if (__builtin_expect(cache->medium.isForLast(bytes), 1))
      return cache->medium.acquireLast();
    return allocatePages(*cache, bytes);
  }
  if (void *object = cache->allocate(*bin))
    return object;
  return passesOn.load(std::memory_order_acquire) ? nextMalloc.malloc(bytes)
                                                  : allocateBlock(bytes);
}

/// freePages() for a block that is not one of the thread's cache.
[[gnu::noinline]] static void freePagesSlowly(void *block, UnitEntry &entry,
                                              uintptr_t caller) {
  if (threadCache != &noCache && entry.state == UnitState::used &&
      uintptr_t(block) % heapPageBytes == entry.detail * colorStepBytes &&
      edgesAreRight(entry, uintptr_t(block)))
    return freeMedium(uint32_t(&entry - heapMap.pages));
  freeBlock(block, caller);
}

/// free() for a block of whole pages, \p offset into the heap. Not inline, as
/// allocatePages().
[[gnu::noinline]] static void freePages(void *block, size_t offset,
                                        MediumCache &cache, uintptr_t caller) {
  auto page = uint32_t(offset / heapPageBytes);
  UnitEntry &entry = heapMap.pages[page];
  uint32_t head = entry.head();
  if (__builtin_expect(!cache.isRight(block, entry, head), 0))
    return freePagesSlowly(block, entry, caller);
  if (__builtin_expect(!cache.recycle(block, entry, page, head), 0))
    freeMedium(page);
}

/// The same for the block that malloc() took from the thread's cache last.
[[gnu::noinline]] static void freeLast(void *block, size_t offset,
                                       MediumCache &cache, uintptr_t caller) {
  if (__builtin_expect(!cache.recycleAgain(block), 0))
    freePages(block, offset, cache, caller);
}

/// free() for what is not in the heap as \p cache knows it.
[[gnu::noinline]] static void freeUnknown(void *block, ThreadCache &cache,
                                          uintptr_t caller) {
  if (passesOn.load(std::memory_order_acquire))
    return nextMalloc.free(block);
  if (&cache != &noCache)
    cache.learnTables();
  freeBlock(block, caller);
}

MPG_EXPORT void MPG_MALLOC(free)(void *block) {
  size_t offset = uintptr_t(block) - heapMap.base;
  ThreadCache *cache = threadCache;
  if (!cache->knows(offset))
    return freeUnknown(block, *cache, MPG_CALLER);
  Slab &slab = slabAt(offset);
  ThreadCache *owner = slab.owner.load(std::memory_order_relaxed);
  auto *object = static_cast<FreeObject *>(block);
  if (__builtin_expect(owner == cache, 1)) {
    if (isOwnObjectStart(slab, offset % slabBytes) &&
        __builtin_expect(object->mark != getMark(object), 1))
      return cache->free(slab, object);
  } else if (owner && isUsed(slab, object, offset)) {
    return cache->sendHome(*owner, slab, object);
  }
  if (__builtin_expect(cache->medium.isLast(block), 1))
    return freeLast(block, offset, cache->medium, MPG_CALLER);
  freePages(block, offset, cache->medium, MPG_CALLER);
}

MPG_EXPORT void *MPG_MALLOC(calloc)(size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (__builtin_expect(all <= maxSmallBytes, 1))
    if (void *object = threadCache->allocate(all))
      return __builtin_memset(object, 0, all);
  return allocateZeroed(all);
}

/// Where a small block moves to. Not inline: one that stays needs no frame.
/// pre: \p object isUsed() and \p owner's, the thread has a cache, 0 < bytes <=
/// maxSmallBytes.
[[gnu::noinline]] static void *moveSmall(ThreadCache &owner, Slab &slab,
                                         FreeObject *object, size_t bytes,
                                         uintptr_t caller) {
  ThreadCache &cache = *threadCache;
  void *other = cache.allocate(bytes);
  if (!other)
    return reallocateBlock(object, bytes, caller);
  size_t oldBytes = slab.objectBytes;
  __builtin_memcpy(other, object, bytes < oldBytes ? bytes : oldBytes);
  if (&owner == &cache)
    cache.free(slab, object);
  else
    cache.sendHome(owner, slab, object);
  return other;
}

MPG_EXPORT void *MPG_MALLOC(realloc)(void *block, size_t bytes) {
  size_t offset = uintptr_t(block) - heapMap.base;
  if (threadCache->knows(offset) && bytes - 1 < maxSmallBytes) {
    Slab &slab = slabAt(offset);
    ThreadCache *owner = slab.owner.load(std::memory_order_relaxed);
    auto *object = static_cast<FreeObject *>(block);
    if (owner && isUsed(slab, object, offset)) {
      // As resizeInPlace().
      if (bytes <= slab.objectBytes && bytes >= slab.objectBytes / 2u)
        return block;
      return moveSmall(*owner, slab, object, bytes, MPG_CALLER);
    }
  }
  return reallocateBlock(block, bytes, MPG_CALLER);
}

#ifndef MPG_STATIC
// The C library's names for its own, by which some programs give blocks of
// malloc back. Blocks that they allocate so stay the C library's. Not by way of
// free(), or of the next one: that may be another library's, which calls these.
static Next<void(void *)> libcFree;
static Next<void *(void *, size_t)> libcRealloc;

MPG_EXPORT void __libc_free(void *block) {
  if (heapSpace.range().contains(uintptr_t(block)))
    freeBlock(block, MPG_CALLER);
  else
    libcFree.get("__libc_free")(block);
}
MPG_EXPORT void *__libc_realloc(void *block, size_t bytes) {
  if (heapSpace.range().contains(uintptr_t(block)))
    return reallocateBlock(block, bytes, MPG_CALLER);
  return libcRealloc.get("__libc_realloc")(block, bytes);
}
#endif

MPG_EXPORT size_t MPG_MALLOC(malloc_usable_size)(void *block) {
  return usableBytes(block);
}

// Aligned

/// As glibc: rounds an alignment up to a power of two.
static void *alignedBlock(size_t alignment, size_t bytes) {
  if (alignment > SIZE_MAX / 2 + 1) {
    errno = EINVAL;
    return nullptr;
  }
  size_t rounded = 16;
  while (rounded < alignment)
    rounded *= 2;
  size_t objectBytes =
      bytes <= maxSmallBytes ? alignedBytes(bytes, rounded) : SIZE_MAX;
  if (__builtin_expect(objectBytes <= maxSmallBytes, 1))
    if (void *object = threadCache->allocate(objectBytes))
      return object;
  return allocateAligned(rounded, bytes);
}

MPG_EXPORT void *MPG_MALLOC(memalign)(size_t alignment, size_t bytes) {
  return alignedBlock(alignment, bytes);
}

MPG_EXPORT void *MPG_MALLOC(aligned_alloc)(size_t alignment, size_t bytes) {
  return alignedBlock(alignment, bytes);
}

MPG_EXPORT int MPG_MALLOC(posix_memalign)(void **block, size_t alignment,
                                          size_t bytes) {
  bool isPower = alignment && (alignment & (alignment - 1)) == 0;
  if (!isPower || alignment % sizeof(void *) != 0)
    return EINVAL;
  void *memory = alignedBlock(alignment, bytes);
  if (!memory)
    return ENOMEM;
  *block = memory;
  return 0;
}

// Through the others

// By name, because an allocator in front of us may define only those.

MPG_EXPORT void *MPG_MALLOC(reallocarray)(void *block, size_t count,
                                          size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, all);
}

MPG_EXPORT void MPG_MALLOC(cfree)(void *block) { free(block); }

MPG_EXPORT void *MPG_MALLOC(valloc)(size_t bytes) {
  return memalign(basePageBytes(), bytes);
}

MPG_EXPORT void *MPG_MALLOC(pvalloc)(size_t bytes) {
  size_t page = basePageBytes();
  if (bytes > SIZE_MAX - page) {
    errno = ENOMEM;
    return nullptr;
  }
  return memalign(page, roundUp(bytes, page));
}

// Ours

/// Whether what programs call free() is ours, so that it knows our blocks: not
/// if libmpg came by dlopen().
static bool freeIsOurs() {
#ifdef MPG_STATIC
  return true;
#else
  void *first = dlsym(RTLD_DEFAULT, "free");
  return first != reinterpret_cast<void *>(nextMalloc.free);
#endif
}

MPG_EXPORT void *mpg_malloc_onnode(size_t bytes, int node) {
  if (!heapIsOurs() || !freeIsOurs()) {
    errno = ENOSYS;
    return nullptr;
  }
  if (!allowedNodes().has(node)) {
    errno = EINVAL;
    return nullptr;
  }
  return allocateOnNode(bytes, node);
}
