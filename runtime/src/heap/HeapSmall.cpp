// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapSmall.h.
//
// A free object is in one of three places: in a bin of its owner, in its slab,
// or on its way home. Invariants, which only the owner of a slab maintains:
//   used      objects of the slab that are neither in its own list nor fresh:
//             the program's, those in a bin, and those on their way
//   open      lists the slabs with an object that is free or fresh, and no
//             others
// A slab without used objects is released unless it is the only one with room.

#include "heap/HeapSmall.h"
#include "base/Check.h"

#include "heap/Collapse.h"

#include "heap/HeapChecks.h"
#include "heap/HeapSlabs.h"

#include <errno.h>
#include <string.h>

using namespace mpg;

// Size classes

namespace {

struct Classes {
  uint32_t bytes[sizeClasses] = {};

  constexpr Classes() {
    unsigned count = 0;
    for (uint32_t size = 16; size <= 128; size += 16)
      bytes[count++] = size;
    for (uint32_t start = 128; count < sizeClasses; start *= 2)
      for (uint32_t part = 1; part <= 4 && count < sizeClasses; ++part)
        bytes[count++] = start + start / 4 * part;
  }
};

} // namespace

static constexpr Classes classes;
static_assert(classes.bytes[sizeClasses - 1] == maxSmallBytes,
              "the last class");

size_t mpg::bytesOfClass(unsigned sizeClass) {
  return classes.bytes[sizeClass];
}

// The owner's lists

static uintptr_t getStart(const Slab &slab) {
  return heapMap.base + uintptr_t(heapMap.slabs - &slab) * slabBytes;
}

static constexpr uint32_t maxBinBytes = 16 << 10;

/// Objects in a bin.
static uint32_t getMaxObjects(unsigned sizeClass) {
  constexpr uint32_t min = 8;
  uint32_t count = maxBinBytes / classes.bytes[sizeClass];
  return count > min ? count : min;
}

void ThreadCache::start() {
  constexpr uint32_t maxWaiting = 32;
  for (unsigned i = 0; i < sizeClasses; ++i) {
    bins[i].max = uint16_t(getMaxObjects(i));
    bins[i].set(nullptr, 0);
    uint32_t count = 2 * maxBinBytes / classes.bytes[i];
    waiting[i].max = count < maxWaiting ? count : maxWaiting;
  }
  for (size_t bytes = 0; bytes <= maxTabledBytes; bytes += 16)
    binOfSmallest[bytes / 16] = &bins[getClass(bytes)];
}

void ThreadCache::list(Slab &slab) {
  Slab *&head = open[slab.sizeClass];
  slab.isListed = true;
  slab.next = head;
  slab.previous = nullptr;
  if (head)
    head->previous = &slab;
  head = &slab;
}

void ThreadCache::unlist(Slab &slab) {
  slab.isListed = false;
  if (slab.previous)
    slab.previous->next = slab.next;
  else
    open[slab.sizeClass] = slab.next;
  if (slab.next)
    slab.next->previous = slab.previous;
}

void ThreadCache::release(Slab &slab) {
  unlist(slab);
  slab.owner.store(nullptr, std::memory_order_release);
  slabFrames.recycle(getPage(getStart(slab)));
}

/// Gives an object of a bin back to its slab.
void ThreadCache::toSlab(FreeObject *object) {
  size_t offset = uintptr_t(object) - heapMap.base;
  Slab &slab = slabAt(offset);
  object->setNext(slab.free);
  slab.free = object;
  --slab.used;
  if (!slab.isListed)
    list(slab);
  // If another one has room this one may go.
  if (slab.used == 0 && (slab.next || slab.previous))
    release(slab);
}

/// Whether \p object is a plausible target of a link, and its own link can be
/// followed. An overwritten mark is harmless: the link is proof enough.
static bool isFreeObject(const FreeObject *object) {
  return isInHeap(object) && (!object->next() || isInHeap(object->next()));
}

/// Reports that the program wrote to a free object of a class: to \p object, or
/// to the one whose link has led to it and out of the heap. The link, and all
/// that follows it, is lost.
static void reportWritten(unsigned sizeClass, const FreeObject *object,
                          const char *function) {
  uintptr_t start = isInHeap(object) ? uintptr_t(object) : 0;
  damage(HeapError::writtenAfterFree, function,
         reinterpret_cast<const void *>(start),
         {start, start + classes.bytes[sizeClass]}, 0);
}

void ThreadCache::toSlabs(unsigned sizeClass, FreeObject *object) {
  while (object) {
    if (!isFreeObject(object))
      return reportWritten(sizeClass, object, "free");
    FreeObject *next = object->next();
    toSlab(object);
    object = next;
  }
}

void ThreadCache::inspectEachFree() {
  for (Bin &bin : bins)
    bin.inspect(true);
}

/// While pages may be collapsed: a program that frees and allocates in turn has
/// no other slow way.
void ThreadCache::inspectFree(Bin &bin) {
  constexpr unsigned each = 64;
  if (!isCollapseDue.load(std::memory_order_relaxed))
    bin.inspect(false);
  else if (++looks % each == 0)
    collapseSome();
}

/// A bin is full: all objects except the newest go on the shelf. If that is
/// full, too, this object goes to its slab, while both are in the cache.
void ThreadCache::shelve(unsigned sizeClass) {
  constexpr uint64_t maxBytes = 1 << 20;
  Bin &bin = bins[sizeClass];
  uint32_t count = bin.count();
  if (count <= bin.max)
    return inspectFree(bin);
  Shelf &shelf = shelves[sizeClass];
  FreeObject *object = bin.first;
  uint64_t bytes = uint64_t(count - 1) * classes.bytes[sizeClass];
  if (shelf.count == Shelf::depth || shelvedBytes + bytes > maxBytes) {
    bin.set(object->next(), count - 1);
    return toSlab(object);
  }
  shelvedBytes += bytes;
  shelf.batches[shelf.count++] = {object->next(), count - 1};
  object->setNext(nullptr);
  bin.set(object, 1);
}

/// Makes a batch of the shelf the bin. False: the shelf has none. pre: the bin
/// is empty.
bool ThreadCache::unshelve(unsigned sizeClass) {
  MPG_CHECK(!bins[sizeClass].first);
  Shelf &shelf = shelves[sizeClass];
  if (!shelf.count)
    return false;
  Batch batch = shelf.batches[--shelf.count];
  shelvedBytes -= uint64_t(batch.count) * classes.bytes[sizeClass];
  bins[sizeClass].set(batch.first, batch.count);
  return true;
}

/// Repairs a bin whose first object the program wrote to: that object can still
/// be allocated; if its link is gone, the rest of the list is lost. A link
/// after the last object does no harm. The C library goes on in these cases,
/// too.
void ThreadCache::mend(unsigned sizeClass) {
  Bin &bin = bins[sizeClass];
  FreeObject *object = bin.first;
  uint32_t count = bin.count();
  if (count == 1 && isInHeap(object))
    object->setNext(nullptr);
  if (count && isFreeObject(object)) {
    object->mark = getMark(object);
    return;
  }
  bin.set(nullptr, 0);
  if (count)
    reportWritten(sizeClass, object, "malloc");
}

/// Moves objects of \p slab into \p bin: all free ones, without checking them,
/// else some that were never used. False: it has none. pre: the bin is empty.
bool ThreadCache::fill(Bin &bin, Slab &slab) {
  MPG_CHECK(!bin.first);
  constexpr uint32_t stepBytes = 4096;
  uint32_t bytes = slab.objectBytes;
  uint32_t freshBytes = slab.freshBytes.load(std::memory_order_relaxed);
  uint32_t fresh = (slabBytes - freshBytes) / bytes, got = 0;
  FreeObject *first = nullptr;
  if (slab.free) {
    got = freshBytes / bytes - slab.used;
    first = slab.free;
    slab.free = nullptr;
  } else if (fresh) {
    got = stepBytes / bytes < fresh ? stepBytes / bytes : fresh;
    got = got ? got : 1;
    uintptr_t start = getStart(slab) + freshBytes;
    for (uint32_t i = got; i-- > 0;) {
      auto *object = reinterpret_cast<FreeObject *>(start + i * bytes);
      object->setNext(first);
      object->mark = getMark(object);
      first = object;
    }
    slab.setFresh(freshBytes + got * bytes);
    fresh -= got;
  }
  bin.set(first, got);
  slab.used += uint16_t(got);
  if (!fresh)
    unlist(slab);
  return got;
}

static Slab *newSlab(ThreadCache &owner, unsigned sizeClass, int &error) {
  uint32_t page = slabFrames.acquire(error);
  if (!page)
    return nullptr;
  Slab &slab = slabAt(page * heapPageBytes);
  slab.free = nullptr;
  slab.setObjectBytes(classes.bytes[sizeClass]);
  slab.bin = &owner.bins[sizeClass];
  slab.used = 0;
  slab.sizeClass = uint8_t(sizeClass);
  slab.owner.store(&owner, std::memory_order_release);
  return &slab;
}

void *ThreadCache::allocateSlowly(unsigned sizeClass, int &error) {
  Bin &bin = bins[sizeClass];
  // More than once only if what it finds is damaged.
  for (;;) {
    learnTables();
    mend(sizeClass);
    if (bin.first || unshelve(sizeClass) || receiveInto(sizeClass)) {
      if (void *object = allocate(bin))
        return object;
      continue;
    }
    if (!open[sizeClass]) {
      flush();
      collect(); // a slab of another class may become free
    }
    Slab *slab = open[sizeClass];
    if (!slab) {
      slab = newSlab(*this, sizeClass, error);
      if (!slab)
        return nullptr;
      list(*slab);
    }
    fill(bin, *slab);
  }
}

void ThreadCache::holdForFork() {
  auto expected = State::abandoned;
  isHeld = state.compare_exchange_strong(expected, State::borrowed,
                                         std::memory_order_seq_cst);
}

void ThreadCache::releaseAfterFork() {
  if (isHeld)
    state.store(State::abandoned, std::memory_order_seq_cst);
  isHeld = false;
}

bool ThreadCache::forgetThread(bool isOwn) {
  for (auto &some : received)
    some.store(0, std::memory_order_relaxed);
  if (isHeld)
    state.store(State::abandoned, std::memory_order_relaxed);
  bool isLost = !isOwn && !isHeld;
  isHeld = false;
  // Its lists may be half changed. Objects freed into it stay there.
  if (isLost)
    state.store(State::lost, std::memory_order_relaxed);
  return isLost;
}

/// Gives all that is free back to the slabs, and slabs without a used object
/// to the frames.
void ThreadCache::releaseEmpty() {
  for (unsigned i = 0; i < sizeClasses; ++i) {
    // Empty before its objects go: who watches memory going may allocate.
    do {
      FreeObject *first = bins[i].first;
      bins[i].set(nullptr, 0);
      toSlabs(i, first);
    } while (bins[i].first || unshelve(i));
  }
  for (Slab *slab : open)
    while (slab) {
      Slab *next = slab->next;
      if (slab->used == 0)
        release(*slab);
      slab = next;
    }
}

static Range freshPart(const Slab &slab) {
  uintptr_t start = getStart(slab);
  return {start + slab.freshBytes.load(std::memory_order_relaxed),
          start + slabBytes};
}

/// Makes the free objects after the last one in use fresh, so that their pages
/// hold nothing needed. False: there are none, or the list is damaged.
static bool freshenEnd(Slab &slab) {
  uint64_t isFree[slabBytes / 16 / 64] = {};
  uintptr_t start = getStart(slab);
  uint32_t bytes = slab.objectBytes;
  uint32_t count = slab.freshBytes.load(std::memory_order_relaxed) / bytes;
  FreeObject *object = slab.free;
  for (uint32_t left = count - slab.used; left; --left) {
    size_t offset = uintptr_t(object) - start;
    if (offset >= slabBytes || !isObjectStart(slab, offset))
      return false;
    isFree[offset / bytes / 64] |= uint64_t(1) << offset / bytes % 64;
    object = object->next();
  }
  auto isFreeAt = [&](uint32_t i) { return isFree[i / 64] >> i % 64 & 1; };
  uint32_t end = count;
  while (end && isFreeAt(end - 1))
    --end;
  if (end == count)
    return false;
  slab.free = nullptr;
  for (uint32_t i = end; i-- > 0;)
    if (isFreeAt(i)) {
      object = reinterpret_cast<FreeObject *>(start + i * bytes);
      object->setNext(slab.free);
      slab.free = object;
    }
  slab.setFresh(end * bytes);
  return true;
}

/// Takes the slabs of a class that have free objects at their end out of the
/// list, and makes these fresh. Returns them, linked.
Slab *ThreadCache::shorten(unsigned sizeClass) {
  Slab *taken = nullptr;
  for (Slab *slab = open[sizeClass], *next; slab; slab = next) {
    next = slab->next;
    if (!freshenEnd(*slab))
      continue;
    unlist(*slab);
    // A free into it meanwhile must not list or release it.
    slab->isListed = true;
    ++slab->used;
    slab->next = taken;
    taken = slab;
  }
  return taken;
}

bool ThreadCache::trimPages() {
  bool any = false;
  for (unsigned i = 0; i < sizeClasses; ++i) {
    Slab *taken = shorten(i);
    for (Slab *slab = taken; slab; slab = slab->next)
      any |= heapSpace.empty(freshPart(*slab));
    while (Slab *slab = taken) {
      taken = slab->next;
      --slab->used;
      list(*slab);
      if (slab->used == 0 && slab->next)
        release(*slab);
    }
  }
  return any;
}

// Objects of others

// Addresses of programs have 47 or 48 bits unless they ask for more, and those
// of objects are multiples of 16: 20 bits are left for the number.
static constexpr unsigned unusedBits = 64 - 48;
static constexpr uint64_t maxReceived = (1 << (unusedBits + 4)) - 1;

static FreeObject *getFirst(uint64_t list) {
  return reinterpret_cast<FreeObject *>((list & ~maxReceived) >> unusedBits);
}

void ThreadCache::receive(unsigned sizeClass, const Waiting &some) {
  std::atomic<uint64_t> &list = received[sizeClass];
  uint64_t before = list.load(std::memory_order_relaxed), after;
  do {
    some.last->setNext(getFirst(before));
    uint64_t count = (before & maxReceived) + some.count;
    after = uint64_t(uintptr_t(some.first)) << unusedBits |
            (count < maxReceived ? count : maxReceived);
  } while (!list.compare_exchange_weak(before, after, std::memory_order_seq_cst,
                                       std::memory_order_relaxed));
}

/// Makes the objects of one class that other threads have freed its bin,
/// without checking them. False: there are none. pre: the bin is empty.
bool ThreadCache::receiveInto(unsigned sizeClass) {
  MPG_CHECK(!bins[sizeClass].first);
  std::atomic<uint64_t> &list = received[sizeClass];
  if (!list.load(std::memory_order_relaxed))
    return false;
  uint64_t all = list.exchange(0, std::memory_order_acquire);
  auto count = uint32_t(all & maxReceived);
  if (count == maxReceived) { // or more
    count = 0;
    for (FreeObject *object = getFirst(all); object && isFreeObject(object);
         object = object->next())
      ++count;
  }
  bins[sizeClass].set(getFirst(all), count);
  return true;
}

void ThreadCache::collect() {
  for (unsigned i = 0; i < sizeClasses; ++i)
    if (received[i].load(std::memory_order_relaxed))
      toSlabs(i, getFirst(received[i].exchange(0, std::memory_order_acquire)));
}

bool ThreadCache::hasReceived() const {
  for (const std::atomic<uint64_t> &list : received)
    if (list.load(std::memory_order_seq_cst))
      return true;
  return false;
}

void ThreadCache::tidy() {
  auto expected = State::abandoned;
  // Again, if something was sent while the cache was borrowed.
  while (hasReceived() &&
         state.compare_exchange_strong(expected, State::borrowed,
                                       std::memory_order_seq_cst)) {
    collect();
    releaseEmpty();
    state.store(State::abandoned, std::memory_order_seq_cst);
  }
}

void ThreadCache::flush(unsigned sizeClass) {
  Waiting &some = waiting[sizeClass];
  if (!some.count)
    return;
  ThreadCache &owner = *some.destination;
  owner.receive(sizeClass, some);
  some.first = nullptr;
  some.count = 0;
  // A cache without a thread would keep it for ever.
  if (owner.state.load(std::memory_order_seq_cst) == State::abandoned) {
    int saved = errno; // free() ends here
    owner.tidy();
    errno = saved;
  }
}

void ThreadCache::flush() {
  for (unsigned i = 0; i < sizeClasses; ++i)
    flush(i);
}

void ThreadCache::redirect(ThreadCache &owner, Slab &slab, FreeObject *object) {
  Waiting &some = waiting[slab.sizeClass];
  while (some.count) // again if something came meanwhile
    flush(slab.sizeClass);
  some.destination = &owner;
  sendHome(owner, slab, object);
}
