// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small blocks: objects of one size in slabs of 32 KiB. A slab belongs to the
// cache of one thread, which allocates and frees its objects without a lock.
// Objects that another thread frees go to the owner in batches, through a
// lock-free list. A thread that ends leaves its cache to the next one.
//
// Because a freed object always goes back to the cache it came from, two
// threads never get objects of the same cache line by passing them around.
//
// A slab's description is beside the heap. A free object holds the link to the
// next one, and a mark that detects a double free. The program may overwrite
// both by mistake: the link is encoded, so that an overwritten one leads out of
// the heap, and no link is followed without a check.

#pragma once

#include "base/Check.h"
#include "heap/MediumCache.h"

namespace mpg {

constexpr size_t maxSmallBytes = 14 << 10; ///< larger blocks are medium
constexpr unsigned sizeClasses = 35;    ///< 16 to 128 by 16, then 4 a doubling
constexpr size_t maxTabledBytes = 1024; ///< their bins are found in a table

class ThreadCache;
struct Bin;

/// The mark of a free object, stored beside its link.
inline uintptr_t getMark(const void *object) {
  return heapMap.mark ^ uintptr_t(object);
}

/// A free object.
struct FreeObject {
  uintptr_t link; ///< the next one's address, xor getMark(this)
  uintptr_t mark; ///< the process's secret, with the object's address

  FreeObject *next() const {
    return reinterpret_cast<FreeObject *>(link ^ getMark(this));
  }
  void setNext(const FreeObject *object) {
    link = uintptr_t(object) ^ getMark(this);
  }
};

/// Whether \p object can be read: it is in the heap, and not null.
inline bool isInHeap(const FreeObject *object) {
  return uintptr_t(object) - heapMap.base <
         heapMap.openBytes.load(std::memory_order_relaxed);
}

/// Free objects of one class, whatever slabs they are in: the last one freed is
/// the first to be used again, because it is still in the processor's cache.
struct Bin {
  FreeObject *first = nullptr;
  int32_t room = 0; ///< for so many more; negative: free() has more to do
  uint16_t max = 0;
  bool isInspected = false; ///< each free() is to find no room

  static constexpr uint32_t inspection = 1 << 30;

  uint32_t count() const {
    uint32_t left = uint32_t(__atomic_load_n(&room, __ATOMIC_RELAXED));
    return (max - left) % inspection;
  }
  void set(FreeObject *object, uint32_t count) {
    first = object;
    room = int32_t(max - count - isInspected * inspection);
  }
  /// A signal's handler that forks may call it while the thread changes the
  /// bin: then free() may find room, but the count is right.
  void inspect(bool isOn) {
    isInspected = isOn;
    set(first, count());
  }
};

struct alignas(64) Slab {
  std::atomic<ThreadCache *> owner; ///< null: these 32 KiB are not a slab
  uint64_t inverse;                 ///< see setFresh()
  uint64_t startLimit;              ///< the same
  Bin *bin;                         ///< of the owner
  /// Objects from here on were never used.
  std::atomic<uint16_t> freshBytes;
  uint16_t objectBytes;
  uint8_t sizeClass;
  bool isListed;    ///< among those of its owner that have a free object
  uint16_t used;    ///< objects that are neither in `free` nor fresh
  FreeObject *free; ///< in this slab all of them
  Slab *next, *previous;

  void setObjectBytes(uint32_t bytes) {
    objectBytes = uint16_t(bytes);
    inverse = UINT64_MAX / bytes + 2;
    setFresh(0);
  }
  /// The product of an offset and the inverse, which is a little more than
  /// 2^64 / object size, wraps to a small number for a multiple of the size:
  /// the larger the multiple, the larger it is. For others it is above 2^49.
  void setFresh(uint32_t bytes) {
    __atomic_store_n(&startLimit, inverse * bytes, __ATOMIC_RELAXED);
    freshBytes.store(uint16_t(bytes), std::memory_order_relaxed);
  }
};
static_assert(sizeof(Slab) == 64, "HeapSpace.cpp makes the table");

/// The slab of the 32 KiB at \p offset in the heap's range. pre: it is open
inline Slab &slabAt(size_t offset) {
  MPG_CHECK(offset < heapMap.openBytes.load(std::memory_order_relaxed));
  return heapMap.slabs[-ptrdiff_t(offset / slabBytes)];
}

/// Class of a size of at most maxSmallBytes.
inline unsigned getClass(size_t bytes) {
  if (bytes <= 128)
    return bytes ? unsigned(bytes - 1) / 16 : 0;
  unsigned high = 63u - unsigned(__builtin_clzll(bytes - 1));
  return 8 + (high - 7) * 4 + unsigned((bytes - 1) >> (high - 2) & 3);
}

class ThreadCache {
public:
  enum class State : uint8_t {
    owned,     ///< by a thread that runs
    abandoned, ///< its thread has ended
    borrowed,  ///< abandoned, and a thread puts its lists in order
    lost,      ///< in a forked child, where its thread does not exist
  };

  constexpr ThreadCache() {
    for (Bin *&bin : binOfSmallest)
      bin = bins;
  }

  /// The bin for \p bytes, at most maxSmallBytes.
  Bin &getBin(size_t bytes) {
    return __builtin_expect(bytes <= maxTabledBytes, 1)
               ? *binOfSmallest[(bytes + 15) / 16]
               : bins[getClass(bytes)];
  }

  /// Whether \p offset into the heap has tables. Also false where they came
  /// after the last learnTables().
  bool knows(size_t offset) const {
    return __builtin_expect(offset < openBytes, 1);
  }
  void learnTables() {
    openBytes = heapMap.openBytes.load(std::memory_order_acquire);
  }

  /// The fast path of malloc; null: allocateSlowly() does the rest.
  void *allocate(Bin &bin) {
    FreeObject *object = bin.first;
    if (!knows(uintptr_t(object) - heapMap.base) ||
        __builtin_expect(object->mark != getMark(object), 0))
      return nullptr;
    FreeObject *next = object->next();
    __builtin_prefetch(next); // for the next call
    bin.first = next;
    object->mark = 0;
    ++bin.room;
    return object;
  }

  void *allocate(size_t bytes) { return allocate(getBin(bytes)); }

  /// Null: \p error is ENOMEM or ENOSPC, as HeapSpace::take.
  void *allocateSlowly(unsigned sizeClass, int &error);

  /// pre: \p object is one of \p slab's, which is ours, and in use.
  void free(Slab &slab, FreeObject *object) {
    MPG_CHECK(slab.owner.load(std::memory_order_relaxed) == this &&
              slab.bin == &bins[slab.sizeClass] &&
              object->mark != getMark(object));
    Bin &bin = *slab.bin;
    object->mark = getMark(object);
    object->setNext(bin.first);
    bin.first = object;
    if (__builtin_expect(--bin.room < 0, 0))
      shelve(slab.sizeClass);
  }

  /// Frees an object of another cache's \p slab. Objects wait here and go to
  /// their owner in batches.
  void sendHome(ThreadCache &owner, Slab &slab, FreeObject *object) {
    Waiting &some = waiting[slab.sizeClass];
    object->mark = getMark(object);
    if (__builtin_expect(some.destination != &owner, 0))
      return redirect(owner, slab, object);
    object->setNext(some.first);
    if (!some.count)
      some.last = object;
    some.first = object;
    if (__builtin_expect(++some.count >= some.max, 0))
      flush(slab.sizeClass);
  }

  /// Sends all objects that wait since sendHome() to their owners.
  void flush();

  /// Takes back the objects that other threads freed.
  void collect();

  /// Its thread ends.
  void abandon();

  /// Calls \p visit(first, count) with each list of objects of a class that are
  /// free for the program but in use for their slabs. While the owner runs, the
  /// counts are approximate and the lists must not be followed.
  template <typename Visit>
  void forEachList(unsigned sizeClass, Visit visit) const {
    visit(bins[sizeClass].first, bins[sizeClass].count());
    const Shelf &shelf = shelves[sizeClass];
    uint32_t count = __atomic_load_n(&shelf.count, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < count && i < Shelf::depth; ++i)
      visit(shelf.batches[i].first, shelf.batches[i].count);
  }

  /// The same for a cache without a thread; any thread may call.
  void tidy();

  /// Returns free objects to their slabs, and slabs without an object in use to
  /// the frames.
  void releaseEmpty();

  /// Returns the base pages behind the last object in use of each slab to the
  /// kernel, as Arena::trimPages(). pre: releaseEmpty().
  bool trimPages();

  void start();

  /// From now on, until no collapse is due (Collapse.h), each free() of a small
  /// object checks whether it is time for one.
  void inspectEachFree();

  // Around a fork: no thread borrows an abandoned cache between the first and
  // one of the others. In the child, only the forking thread's cache is intact;
  // forgetThread() returns whether this one lost its thread.
  void holdForFork();
  void releaseAfterFork();
  bool forgetThread(bool isOwn);

  // First what malloc and free use.

  size_t openBytes = 0; ///< of HeapMap, when it was read last
  /// Of sizes up to maxTabledBytes, in steps of 16.
  Bin *binOfSmallest[maxTabledBytes / 16 + 1] = {};
  Bin bins[sizeClasses];
  Arena *arena = nullptr; ///< where medium blocks come from
  MediumCache medium;     ///< those that are looked at first

  // Of the list of all caches, and the next one without a thread.
  ThreadCache *nextOfAll = nullptr;
  ThreadCache *nextAbandoned = nullptr;
  std::atomic<State> state{State::owned};
  bool isHeld = false; ///< by a thread that forks

private:
  /// Objects of one class on their way to one cache.
  struct Waiting {
    ThreadCache *destination = nullptr;
    FreeObject *first = nullptr, *last = nullptr;
    uint32_t count = 0, max = 0;
  };

  /// Full bins that were put aside whole: their objects are not touched until
  /// they are wanted again.
  struct Batch {
    FreeObject *first;
    uint32_t count;
  };
  struct Shelf {
    static constexpr unsigned depth = 16;
    Batch batches[depth];
    uint32_t count;
  };

  void mend(unsigned sizeClass);
  void inspectFree(Bin &bin);
  void shelve(unsigned sizeClass);
  bool unshelve(unsigned sizeClass);
  bool receiveInto(unsigned sizeClass);
  void redirect(ThreadCache &owner, Slab &slab, FreeObject *object);
  void flush(unsigned sizeClass);
  bool hasReceived() const;
  void toSlabs(unsigned sizeClass, FreeObject *object);
  void toSlab(FreeObject *object);
  bool fill(Bin &bin, Slab &slab);
  void list(Slab &slab);
  void unlist(Slab &slab);
  void release(Slab &slab);
  Slab *shorten(unsigned sizeClass);
  void receive(unsigned sizeClass, const Waiting &some);

  Slab *open[sizeClasses] = {}; ///< with objects that are free or fresh
  uint64_t shelvedBytes = 0;
  unsigned looks = 0; ///< of inspectFree()
  Shelf shelves[sizeClasses] = {};
  Waiting waiting[sizeClasses];
  /// Lists from others: address of the first, above it the number.
  alignas(64) std::atomic<uint64_t> received[sizeClasses] = {};
};

/// The calling thread's cache. A shared one that never owns a slab, as long as
/// the thread has none (or MALLOC_CHECK_ or another setting must see every
/// call).
extern __thread ThreadCache *threadCache
    __attribute__((tls_model("initial-exec")));
extern ThreadCache noCache __attribute__((visibility("hidden")));

/// At the start; false: no memory.
bool startCaches();

/// For a program that wants all keys of threads there are: from now on no
/// thread gets a cache. False if that had been given up before.
bool releaseKey();

/// Makes a cache for the calling thread, which it leaves when it ends. Null: no
/// memory, or no key, or the thread is past its end: use lateCache().
ThreadCache *ownCache();

/// The cache for threads that are past their end; its lock is held until
/// doneWithLateCache().
ThreadCache *lateCache();
void doneWithLateCache();

size_t bytesOfClass(unsigned sizeClass);

/// The bytes whose class has objects for \p bytes at multiples of \p alignment,
/// a power of two. Each multiple of it is the size of a class, or lies where
/// the classes are multiples of it. pre: \p bytes is at most maxSmallBytes.
inline size_t alignedBytes(size_t bytes, size_t alignment) {
  MPG_CHECK(bytes <= maxSmallBytes);
  return alignment <= 16 ? bytes : roundUp(bytes ? bytes : 1, alignment);
}

/// Whether \p offset into a slab is where an object begins that was given out.
inline bool isObjectStart(const Slab &slab, size_t offset) {
  return offset * slab.inverse <
         __atomic_load_n(&slab.startLimit, __ATOMIC_RELAXED);
}
/// The same for the slab's owner, which alone writes the limit: a plain load
/// lets the compiler compare with memory.
inline bool isOwnObjectStart(const Slab &slab, size_t offset) {
  return __builtin_expect(offset * slab.inverse < slab.startLimit, 1);
}

/// The object at \p offset of \p slab, which begins at \p start.
inline Range objectAt(const Slab &slab, uintptr_t start, size_t offset) {
  start += offset - offset % slab.objectBytes;
  return {start, start + slab.objectBytes};
}

/// The newest of all caches, see nextOfAll. Caches are never freed, so the list
/// can be read without a lock.
ThreadCache *firstCache();
unsigned cacheCount();
unsigned cachesInUse(); ///< of running threads, and the late one

// The steps of a fork.
void lockCaches();
void unlockCaches(bool inChild);
/// In the child, after all locks are free again.
void forgetOtherThreads();

} // namespace mpg
