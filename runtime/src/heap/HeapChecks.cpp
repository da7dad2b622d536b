// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapChecks.h; and mpg_heap_check, which checks the whole heap.

#include "heap/HeapChecks.h"
#include "base/CLibrary.h"
#include "base/Messages.h"
#include "base/Syscall.h"
#include "heap/Heap.h"
#include "heap/HeapLarge.h"
#include "heap/HeapSmall.h"
#include "heap/HeapWalk.h"
#include "mpg/mpg.h"
#include <string.h>
#include <time.h>

using namespace mpg;

HeapChecks mpg::heapChecks;

static constexpr uint8_t pattern = 0x5a;
static constexpr size_t maxPattern = 4096; // of a large block's rest

void mpg::startChecks(const Config &config) {
  heapChecks.level = config.check;
  heapChecks.guards = config.checkGiven && config.check != 0;
  heapChecks.perturb = uint8_t(config.perturb);
}

static Range getPattern(Range block, size_t bytes) {
  Range rest{block.start + bytes, block.end - sizeof(uint64_t)};
  if (rest.bytes() > maxPattern)
    rest.end = rest.start + maxPattern;
  return rest;
}

/// Never the mark of a free object, which may be in the same place.
static uint64_t computeSeal(Range block, size_t bytes) {
  return bytes ^ ~getMark(reinterpret_cast<void *>(block.start));
}

void mpg::setGuard(Range block, size_t bytes) {
  if (!heapChecks.guards)
    return;
  Range rest = getPattern(block, bytes);
  memset(reinterpret_cast<void *>(rest.start), pattern, rest.bytes());
  uint64_t seal = computeSeal(block, bytes);
  memcpy(reinterpret_cast<void *>(block.end - sizeof seal), &seal, sizeof seal);
}

size_t mpg::readGuard(Range block, uintptr_t &wrongByte) {
  wrongByte = 0;
  if (!heapChecks.guards)
    return block.bytes();
  uint64_t seal;
  memcpy(&seal, reinterpret_cast<void *>(block.end - sizeof seal), sizeof seal);
  size_t bytes = computeSeal(block, size_t(seal));
  if (bytes > block.bytes() - sizeof seal) {
    wrongByte = block.end - sizeof seal;
    return block.bytes();
  }
  Range rest = getPattern(block, bytes);
  for (uintptr_t at = rest.start; at < rest.end && !wrongByte; ++at)
    if (*reinterpret_cast<uint8_t *>(at) != pattern)
      wrongByte = at;
  return bytes;
}

void mpg::perturbNew(void *start, size_t bytes) {
  if (heapChecks.perturb)
    memset(start, heapChecks.perturb ^ 0xff, bytes);
}

void mpg::perturbFreed(void *start, size_t bytes) {
  if (heapChecks.perturb)
    memset(start, heapChecks.perturb, bytes);
}

void mpg::damage(HeapError error, const char *function, const void *pointer,
                 Range block, uintptr_t caller, uintptr_t wrongByte) {
  HeapDamage found;
  found.error = error;
  found.function = function;
  found.pointer = uintptr_t(pointer);
  found.block = block;
  found.caller = caller;
  found.wrongByte = wrongByte;
  reportHeapDamage(found, heapChecks.level);
}

// All blocks at once. mpg_heap_check: searches every block for damage by writes
// outside of it.
//
//   tables      an entry for each run of pages, and they follow on each other
//   free lists  of slabs: links, marks, and how many there are
//   guards      after blocks in use; they are there if MALLOC_CHECK_ is set
//   edges       of medium blocks in use, if it is not
//
// A slab belongs to a thread, which changes its list at any time. So free lists
// are looked at in the slabs of the calling thread and of threads that have
// ended; a program of one thread has no others.
//
// Findings are reported after all locks are released, because a handler may
// allocate.

namespace {

class HeapVerify {
public:
  /// Looks at everything. pre: HeapHeld.
  void inspect();
  /// Drops what \p before has not found as well.
  void keepWhatIsIn(const HeapVerify &before);
  bool hasFound() const { return count != 0; }
  /// Says what was found, and returns how much that is.
  int report() const;

private:
  void inspect(const HeapTile &tile);
  void inspect(const Slab &slab, uintptr_t start);
  void inspectFreeList(const Slab &slab, uintptr_t start);
  void inspectBins(const ThreadCache &cache);
  template <typename IsOne>
  uint64_t inspectList(const FreeObject *object, uint32_t bytes, uint64_t limit,
                       IsOne isOne);
  void inspectObjects(const Slab &slab, uintptr_t start);
  void inspectGuard(Range block);
  void inspectEdges(uint32_t page);
  void add(HeapError error, Range block, uintptr_t wrongByte = 0);
  void addTable(uintptr_t where);
  HeapDamage *next();

  static constexpr unsigned max = 32; ///< reported one by one
  HeapDamage found[max];
  unsigned count = 0;
  /// No other thread changes the lists of \p cache: it is the caller's, or no
  /// thread's.
  bool isQuiet(const ThreadCache &cache) const {
    return &cache == mine || cache.isHeld;
  }

  ThreadCache *mine = ownCache();
};

} // namespace

// Findings

HeapDamage *HeapVerify::next() {
  HeapDamage *damage = count < max ? &found[count] : nullptr;
  if (count < INT32_MAX)
    ++count;
  return damage;
}

void HeapVerify::add(HeapError error, Range block, uintptr_t wrongByte) {
  if (HeapDamage *damage = next()) {
    damage->error = error;
    damage->function = "mpg_heap_check";
    damage->pointer = block.start;
    damage->block = block;
    damage->wrongByte = wrongByte;
  }
}

/// No block, but the heap's own notes of what lies at \p where.
void HeapVerify::addTable(uintptr_t where) {
  if (HeapDamage *damage = next()) {
    damage->function = nullptr;
    damage->pointer = where;
  }
}

void HeapVerify::keepWhatIsIn(const HeapVerify &before) {
  if (before.count > max || count > max) // too much to be chance
    return;
  unsigned kept = 0;
  for (unsigned i = 0; i < count; ++i)
    for (unsigned k = 0; k < before.count; ++k)
      if (before.found[k].pointer == found[i].pointer &&
          before.found[k].wrongByte == found[i].wrongByte) {
        found[kept++] = found[i];
        break;
      }
  count = kept;
}

int HeapVerify::report() const {
  constexpr unsigned prints = 1, ends = 2;
  unsigned level = heapChecks.level & ~ends;
  for (unsigned i = 0; i < count && i < max; ++i) {
    if (found[i].function) {
      reportHeapDamage(found[i], level);
    } else if (level & prints) {
      LineBuffer line;
      line.add("mpg: heap: mpg_heap_check(")
          .addHex(found[i].pointer)
          .add("): the heap's tables are wrong about this address; fix: look "
               "for writes through wild pointers; a build with "
               "-fsanitize=address names them")
          .print();
    }
  }
  if (count > max && level & prints) {
    LineBuffer line;
    line.add("mpg: heap: mpg_heap_check: ")
        .addNumber(count - max)
        .add(" more")
        .print();
  }
  return int(count);
}

// Guards

/// \p block may be empty: it is not in use (any more).
void HeapVerify::inspectGuard(Range block) {
  uintptr_t wrongByte = 0;
  size_t bytes = block.empty() ? 0 : readGuard(block, wrongByte);
  if (wrongByte)
    add(HeapError::writtenAround, {block.start, block.start + bytes},
        wrongByte);
}

void HeapVerify::inspectEdges(uint32_t page) {
  if (uintptr_t wrongByte = wrongByteAround(page))
    add(HeapError::writtenAround, usableBlock(page), wrongByte);
}

// Slabs

/// Follows \p object and its links. \p isOne(address): whether a free object
/// can be there. Returns their number; more than \p limit means that the links
/// lead astray, which has been noted.
template <typename IsOne>
uint64_t HeapVerify::inspectList(const FreeObject *object, uint32_t bytes,
                                 uint64_t limit, IsOne isOne) {
  uint64_t count = 0;
  Range before;
  for (; object && count <= limit; object = object->next(), ++count) {
    if (!isOne(uintptr_t(object))) {
      before.empty() ? addTable(uintptr_t(object))
                     : add(HeapError::writtenAfterFree, before);
      return limit + 1;
    }
    before = {uintptr_t(object), uintptr_t(object) + bytes};
    if (object->mark != getMark(object)) { // then its link is no good either
      add(HeapError::writtenAfterFree, before);
      return limit + 1;
    }
  }
  if (count > limit) // in a circle
    add(HeapError::writtenAfterFree, before);
  return count;
}

void HeapVerify::inspectFreeList(const Slab &slab, uintptr_t start) {
  uint64_t objects = slab.freshBytes / slab.objectBytes;
  uint64_t free =
      inspectList(slab.free, slab.objectBytes, objects, [&](uintptr_t address) {
        return address - start < slabBytes &&
               isObjectStart(slab, address - start);
      });
  if (free <= objects && free + slab.used != objects)
    addTable(start);
}

/// The free objects that a cache has at hand, of any of its slabs.
void HeapVerify::inspectBins(const ThreadCache &cache) {
  for (unsigned i = 0; i < sizeClasses; ++i) {
    auto isOne = [&](uintptr_t at) {
      size_t offset = at - heapMap.base;
      if (offset >= openPages() * heapPageBytes)
        return false;
      const Slab &slab = slabAt(offset);
      return slab.owner.load(std::memory_order_relaxed) == &cache &&
             slab.sizeClass == i && isObjectStart(slab, offset % slabBytes);
    };
    cache.forEachList(i, [&](const FreeObject *first, uint64_t count) {
      // Do not follow what the last link was overwritten with.
      if (count &&
          inspectList(first, uint32_t(bytesOfClass(i)), count, isOne) < count)
        addTable(uintptr_t(&cache));
    });
  }
}

void HeapVerify::inspectObjects(const Slab &slab, uintptr_t start) {
  for (uint32_t at = 0; at < slab.freshBytes; at += slab.objectBytes) {
    auto *object = reinterpret_cast<const FreeObject *>(start + at);
    if (__atomic_load_n(&object->mark, __ATOMIC_RELAXED) != getMark(object))
      inspectGuard(objectAt(slab, start, at));
  }
}

void HeapVerify::inspect(const Slab &slab, uintptr_t start) {
  uint32_t bytes = slab.objectBytes;
  if (slab.sizeClass >= sizeClasses || bytes != bytesOfClass(slab.sizeClass) ||
      slab.freshBytes > slabBytes || slab.freshBytes % bytes != 0)
    return addTable(start);
  if (isQuiet(*slab.owner.load(std::memory_order_relaxed)))
    inspectFreeList(slab, start);
  if (heapChecks.guards)
    inspectObjects(slab, start);
}

// Pages

void HeapVerify::inspect(const HeapTile &tile) {
  if (tile.isBroken)
    return addTable(addressOfPage(tile.page));
  // Read only once its pages cannot go: see HeapSpace::recycle.
  if (heapChecks.guards && tile.isLarge)
    inspectGuard(largeBlock(tile.page, tile.pages));
  else if (heapChecks.guards && tile.isMedium())
    inspectGuard(mediumBlock(tile.page));
  else if (tile.isMedium())
    inspectEdges(tile.page);
  // Large blocks change without a lock that is held here.
  if (tile.isMedium() || tile.state == UnitState::cached)
    for (uint32_t page = tile.page + 1; page < tile.end(); ++page)
      if (heapMap.pages[page].state != UnitState::inside)
        return addTable(addressOfPage(page));
}

void HeapVerify::inspect() {
  forEachTile([&](const HeapTile &tile) { inspect(tile); });
  visitSlabs([&](Slab &slab, uintptr_t start) { inspect(slab, start); });
  for (ThreadCache *cache = firstCache(); cache; cache = cache->nextOfAll)
    if (isQuiet(*cache))
      inspectBins(*cache);
}

/// Looks until what is found is there to stay: another thread may have got a
/// block a moment ago and not have set its guard, or be about to free it.
static void inspect(HeapVerify &verify) {
  constexpr unsigned maxTurns = 10;
  timespec pause = {0, 100 * 1000 * 1000}; // a large page is cleared in that
  {
    HeapHeld held;
    verify.inspect();
  }
  // One cache is the caller's, one for threads past their end.
  bool isAlone = cacheCount() <= 2;
  for (unsigned turn = 0; turn < maxTurns; ++turn) {
    if (isAlone || !verify.hasFound())
      return;
    rawCall(SYS_nanosleep, long(&pause), 0);
    HeapVerify again;
    {
      HeapHeld held;
      again.inspect();
    }
    again.keepWhatIsIn(verify);
    verify = again;
  }
}

MPG_EXPORT int mpg_heap_check(void) {
  if (!heapIsOurs())
    return 0;
  settleCaches();
  HeapVerify verify;
  inspect(verify);
  return verify.report();
}
