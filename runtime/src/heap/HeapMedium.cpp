// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapMedium.h.
//
// Invariants: each page of an arena's frames is part of a free run, or of a
// block whose first entry is `used`, `cached`, `slabs`, `packed`, or
// `packedFree` and has the arena's number. Memory is returned to the system in
// whole frames, all of whose pages are free at that moment.

#include "heap/HeapMedium.h"
#include "base/Check.h"

#include "base/Syscall.h"
#include "heap/HeapLarge.h"
#include "pages/PagesNuma.h"

#include <errno.h>
#include <new>
#include <time.h>

using namespace mpg;

ArenaSettings mpg::arenaSettings;
std::atomic<bool> mpg::isIdleDue{false};
/// Of all arenas: their memory, and how much free memory does not go back.
static std::atomic<uint64_t> arenaBytes{0}, allKeptBytes{0};

// Blocks

// No other thread has it yet.
void Arena::start(uint16_t number, int onNode) MPG_NO_ANALYSIS {
  id = number;
  node = onNode;
  runs.start(heapMap.pages, number);
}

/// Keeps \p pages of \p run, which was free, from its page \p place on.
FreeRuns::Run Arena::keepPart(FreeRuns::Run run, uint32_t pages,
                              uint32_t place) {
  MPG_CHECK(place + pages <= run.length);
  FreeRuns::Run one{run.first + place, pages, run.isZero};
  if (place)
    runs.recycle({run.first, place, run.isZero});
  if (one.end() < run.end())
    runs.recycle({one.end(), run.end() - one.end(), run.isZero});
  return one;
}

/// Takes pages that are free. The first block is at one of several places, so
/// that its address cannot be guessed: a large page alone begins at few places.
/// The rest in front is short, and the next blocks use it.
FreeRuns::Run Arena::acquireFree(uint32_t pages, uint32_t alignment) {
  constexpr uint32_t places = 64;
  if (isScattered || alignment != 1)
    return runs.acquire(pages, alignment);
  FreeRuns::Run run;
  if (pages <= places) // large blocks fill large pages
    run = runs.acquire(pages + places - 1);
  if (run.first)
    run = keepPart(run, pages, heapMap.random / 32 % places);
  else
    run = runs.acquire(pages);
  isScattered = run.first;
  return run;
}

/// Whether a block of \p pages begins behind the last large page, which others
/// use. The thread that wrote to it first has it on its node, and in the middle
/// of large pages the parts of the block's threads share one at each border. If
/// the others use little of the page, the block begins there all the same.
bool Arena::leavesRest(uint32_t pages) const {
  // Of shorter blocks a thread's part is hardly longer than a large page.
  constexpr uint32_t minPages = (4 << 20) / heapPageBytes, little = 16;
  if (pages < minPages || isOfNode() || !top)
    return false;
  auto framePages = uint32_t(heapSpace.hugePageBytes() / heapPageBytes);
  uint32_t rest = runs.endingAt(getPage(top)).length % framePages;
  return rest && rest < framePages - little && rest <= pages / 8 &&
         allowedNodes().count() > 1;
}

/// \p growth: for memory that comes; null: only what is there.
uint32_t Arena::acquire(uint32_t pages, uint32_t alignment, PageChoice *growth,
                        uint32_t &dirtyPages, int &error) {
  FreeRuns::Run run = acquireFree(pages, alignment);
  dirtyPages = run.isZero ? 0 : pages;
  if (run.first || !growth)
    return run.first;
  if (growth->wantsHead())
    alignment = uint32_t(hugeFrameBytes / heapPageBytes);
  else if (alignment == 1 && leavesRest(pages))
    alignment = uint32_t(heapSpace.hugePageBytes() / heapPageBytes);
  if (!grow(pages, alignment, *growth, error).first)
    return 0;
  run = acquireFree(pages, alignment);
  // The new memory is zero, the free run in front of it may not be, and both
  // are one run now. Only the older part has to be cleared: clearing all would
  // make a block resident of which the program may use little. Nobody else can
  // have written to the new part, since we hold the lock.
  uint32_t clean = getPage(newest);
  if (run.isZero || run.end() <= clean || run.end() > getPage(top))
    dirtyPages = run.isZero ? 0 : pages;
  else
    dirtyPages = clean > run.first ? clean - run.first : 0;
  return run.first;
}

/// Blocks share pages only after so many were taken in a row: a program that
/// holds fewer gains little memory, and its thread could keep none of them.
static constexpr uint32_t minTaken = 512;

/// Longer blocks are arrays, as a rule: what is there of them is written.
static constexpr uint64_t maxSparseBytes = 32 << 20;

/// Whether a block should have its own frames: a long one of which little is
/// written. In an arena it has a page of the table, as much as is present of
/// it. Not where blocks come and go, since that takes system calls. Some stay
/// in the arena: they show PageChoice how much is written.
bool Arena::leavesToFrames(const PageChoice &choice, uint64_t bytes) {
  constexpr uint32_t minInRow = 64, sampleEach = 16;
  bool mayLeave = &choice == &forLongBlocks && choice.isSparse() &&
                  bytes <= maxSparseBytes && !isOfNode() && mayHaveLarge() &&
                  arenaSettings.trimBytes.load() != UINT64_MAX;
  return mayLeave && ++grownInRow > minInRow && grownInRow % sampleEach &&
         heapSpace.mayGrow(arenaBytes.load(std::memory_order_relaxed),
                           bytes + 2 * hugeFrameBytes);
}

uint32_t Arena::allocate(size_t bytes, size_t alignment, bool mayGrow,
                         uint32_t &dirtyPages, int &error) {
  emptyQueue();
  forSlabs.noteRequest();
  forBlocks.noteRequest();
  forLongBlocks.noteRequest();
  MediumShape shape = computeShape(bytes, alignment);
  uint32_t pageAlignment =
      alignment > heapPageBytes ? uint32_t(alignment / heapPageBytes) : 1;
  error = ENOMEM;
  PageChoice &choice = choiceFor(shape.pages * heapPageBytes);
  bool packs =
      &choice == &forBlocks && choice.isSparse() && isColored(bytes, alignment);
  dirtyPages = shape.pages;
  if (uint32_t page = packs ? reusePacked(bytes) : 0)
    return page;
  if (uint32_t page = packs ? appendPacked(bytes, dirtyPages) : 0)
    return page;
  if (mayGrow)
    dissolveListed();
  if (mayGrow && leavesToFrames(choice, bytes)) {
    error = 0;
    return 0;
  }
  uint32_t page = acquire(shape.pages, pageAlignment,
                          mayGrow ? &choice : nullptr, dirtyPages, error);
  if (!page)
    return 0;
  uint8_t shift = shape.parseShift(shape.colors > 1 ? color++ : 0);
  heapMap.pages[page] = {shape.pages, 0, 0, id, shift, UnitState::used};
  if (packs && ++taken > minTaken)
    pack(page, bytes, dirtyPages == 0);
  return page;
}

/// Returned memory that may be kept in any case.
static constexpr uint64_t usualKeptBytes = 64 << 20;

void Arena::recycleRun(uint32_t page, uint32_t pages, uint64_t besideBytes) {
  heapMap.pages[page].state = UnitState::inside;
  FreeRuns::Run run = runs.recycle({page, pages, false});
  uint64_t trimBytes = arenaSettings.trimBytes.load(std::memory_order_relaxed);
  uint64_t free = runs.freeUnits() * heapPageBytes;
  if (keptBytes > usualKeptBytes)
    noteFree(free, pages * heapPageBytes);
  if (trimBytes == UINT64_MAX || free < keptBytes)
    return;
  free -= keptBytes;
  uint64_t used = mappedBytes - keptBytes - free;
  // In many pieces there may be more: they are used again before long, and new
  // pages have to be cleared.
  bool isMuch = free + besideBytes >= trimBytes && free >= used;
  uint64_t length = run.length * heapPageBytes;
  bool isLong =
      length >= keptBytes && length - keptBytes + besideBytes >= trimBytes;
  if (isMuch || isLong)
    returnedBytes += returnFrames(run, free);
  if (isMuch)
    returnPieces(pages * heapPageBytes,
                 keptBytes + (used > trimBytes ? used : trimBytes));
}

/// Gives older pieces back, so that \p keepBytes of free memory stay.
void Arena::returnPieces(uint64_t freedBytes, uint64_t keepBytes) {
  constexpr uint64_t searchEach = 16 << 20; // there may be no whole frame
  freedInPieces += freedBytes;
  if (freedInPieces < searchEach)
    return;
  freedInPieces = 0;
  returnedBytes += returnRuns(keepBytes);
}

void Arena::emptyQueue() {
  if (queue.load(std::memory_order_relaxed) == 0)
    return;
  uint32_t page = queue.exchange(0, std::memory_order_acquire);
  while (page) {
    uint32_t next = heapMap.pages[page].next;
    recycle(page);
    page = next;
  }
}

/// Takes in a block that was freed.
void Arena::recycle(uint32_t page, uint64_t besideBytes) {
  const UnitEntry &entry = heapMap.pages[page];
  taken = 0;
  if (entry.length >= hugeFrameBytes / heapPageBytes)
    grownInRow = 0;
  if (entry.state == UnitState::packedFree)
    recyclePacked(page, besideBytes);
  else
    recycleRun(page, entry.length, besideBytes);
}

void Arena::free(uint32_t page, uint64_t besideBytes) {
  UnitEntry &entry = heapMap.pages[page];
  // From here on a second free() is found.
  entry.state = entry.state == UnitState::packed ? UnitState::packedFree
                                                 : UnitState::cached;
  // A thread never waits here: who holds the lock takes the block off the
  // queue.
  if (!lock.tryLock()) {
    uint32_t first = queue.load(std::memory_order_relaxed);
    do
      entry.next = first;
    while (!queue.compare_exchange_weak(first, page, std::memory_order_release,
                                        std::memory_order_relaxed));
    // The thread with the lock may have left without seeing it.
    if (!lock.tryLock())
      return;
    emptyQueue();
  } else {
    emptyQueue();
    recycle(page, besideBytes);
  }
  unlock();
}

bool Arena::resize(uint32_t page, size_t bytes) {
  UnitEntry &entry = heapMap.pages[page];
  uint32_t pages = countPages(entry.detail * colorStepBytes + bytes);
  bool isPacked = entry.state == UnitState::packed;
  if (!isPacked && pages == entry.length)
    return true;
  lock.lock();
  uint32_t end = page + entry.length;
  emptyQueue();
  bool isDone = isPacked ? resizePacked(page, bytes) : resizeTo(page, pages);
  unlock();
  if (isDone && !isPacked)
    heapSpace.pageIn({addressOfPage(end), addressOfPage(page + pages)});
  return isDone;
}

/// Gives a block that shares no pages \p pages, where it is.
bool Arena::resizeTo(uint32_t page, uint32_t pages) {
  UnitEntry &entry = heapMap.pages[page];
  if (pages < entry.length)
    recycleRun(page + pages, entry.length - pages);
  else if (!lengthen(page + entry.length, pages - entry.length))
    return false;
  entry.length = pages;
  return true;
}

/// Takes \p more pages at the end of a block.
bool Arena::lengthen(uint32_t end, uint32_t more) {
  if (runs.acquireAt(end, more).first)
    return true;
  // The last block of an arena grows with it.
  int error;
  FreeRuns::Run last = runs.endingAt(getPage(top));
  uint32_t there = last.first ? last.length : 0;
  return end + there == getPage(top) &&
         addMemory(top, (more - there) * heapPageBytes,
                   choiceFor(more * heapPageBytes), error)
             .first &&
         runs.acquireAt(end, more).first;
}

// Memory

/// How much to take when \p need is needed: more in a large arena, to limit its
/// mappings, but never more than half a percent too much.
uint64_t Arena::stepBytes(uint64_t need) const {
  uint64_t step = arenaSettings.topPadBytes.load(std::memory_order_relaxed);
  uint64_t heapStep =
      arenaSettings.heapStepBytes.load(std::memory_order_relaxed);
  if (id != 0 && heapStep > step)
    step = heapStep;
  if (mappedBytes / 256 > step)
    step = mappedBytes / 256;
  uint64_t hugeBytes = heapSpace.hugePageBytes();
  uint64_t max = heapSpace.range().bytes() / 4;
  if (step > max)
    step = max;
  return roundUp(need > step ? need : step, hugeBytes);
}

void Arena::setKept(uint64_t bytes) {
  allKeptBytes.fetch_add(bytes - keptBytes, std::memory_order_relaxed);
  keptBytes = bytes;
}

/// How much of \p wanted bytes of returned memory an arena that needs \p step
/// more may keep: beyond a small amount, all arenas together at most twice what
/// others can have at the same time.
uint64_t Arena::limitKept(uint64_t wanted, uint64_t step) const {
  constexpr uint64_t times = 64;
  uint64_t trimBytes = arenaSettings.trimBytes.load(std::memory_order_relaxed);
  uint64_t max = trimBytes < UINT64_MAX / times ? trimBytes * times : 0;
  uint64_t min = step > usualKeptBytes ? step : usualKeptBytes;
  wanted = wanted < max ? wanted : max;
  if (wanted <= min)
    return wanted;
  uint64_t left = 2 * heapSpace.leftForOthers();
  uint64_t others = allKeptBytes.load(std::memory_order_relaxed) - keptBytes;
  max = left < max ? left : max;
  max = max > others + min ? max - others : min;
  return wanted < max ? wanted : max;
}

/// Memory that went back is needed again: so much less goes back from now on. A
/// step of 256 MiB (HEAP_SIZE_MB) would else be cleared at each malloc() and
/// unmapped at each free().
void Arena::keepReturned(uint64_t bytes) {
  // To ask how much others have left takes some files: so not at each step.
  uint64_t step = stepBytes(bytes),
           again = step > keptBytes / 8 ? step : keptBytes / 8;
  if (again > returnedBytes)
    again = returnedBytes;
  if (again == 0)
    return;
  returnedBytes -= again;
  uint64_t allowed = limitKept(keptBytes + again, step);
  // Others have less left than before; do not ask for the difference at once.
  if (allowed > keptBytes)
    setKept(allowed);
  if (keptBytes > usualKeptBytes)
    isIdleDue.store(true, std::memory_order_relaxed);
}

/// Keeps less of what has not been needed since the last time.
void Arena::keepLess() {
  uint64_t idle = minFreeBytes < keptBytes ? minFreeBytes : keptBytes;
  uint64_t less = keptBytes - idle / 2;
  if (keptBytes > usualKeptBytes)
    setKept(less > usualKeptBytes ? less : usualKeptBytes);
  minFreeBytes = UINT64_MAX;
  freesSeen = 0;
  freedBytes = 0;
}

/// Of the last block, of \p bytes, that was freed. \p free: with it.
void Arena::noteFree(uint64_t free, uint64_t bytes) {
  constexpr uint32_t frees = 16384;
  minFreeBytes = free - bytes < minFreeBytes ? free - bytes : minFreeBytes;
  freedBytes += bytes;
  // A program that takes all and then frees all has used all before it has
  // freed twice as much.
  if (++freesSeen >= frees && freedBytes >= 2 * keptBytes)
    keepLess();
}

void Arena::recycleIdle() {
  if (!lock.tryLock()) // the next time
    return;
  emptyQueue();
  uint64_t free = runs.freeUnits() * heapPageBytes;
  minFreeBytes = free < minFreeBytes ? free : minFreeBytes;
  keepLess();
  if (keptBytes > usualKeptBytes)
    isIdleDue.store(true, std::memory_order_relaxed);
  uint64_t trimBytes = arenaSettings.trimBytes.load(std::memory_order_relaxed);
  if (free > keptBytes && free - keptBytes >= trimBytes)
    returnRuns(keptBytes);
  unlock();
}

bool mpg::recycleIdleMemory() {
  constexpr time_t seconds = 2;
  static std::atomic<time_t> due{0};
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  time_t next = due.load(std::memory_order_relaxed);
  if (now.tv_sec < next ||
      !due.compare_exchange_strong(next, now.tv_sec + seconds))
    return false;
  isIdleDue.store(false, std::memory_order_relaxed);
  for (unsigned i = 0; i < arenaCount(); ++i)
    arenaAt(uint16_t(i)).recycleIdle();
  return true;
}

/// The free run that it is part of; none: \p error. pre: \p start is where an
/// arena ends, or 0: anywhere.
FreeRuns::Run Arena::addMemory(uintptr_t start, uint64_t needBytes,
                               PageChoice &choice, int &error) {
  uint64_t exact = roundUp(needBytes, heapSpace.hugePageBytes());
  bool isAsSettings = node >= 0 || needBytes > maxSparseBytes;
  HeapSupply supply{node, isAsSettings ? HeapPages::large : choice.choose()};
  // Base pages that nobody writes to cost nothing.
  bool isShort = supply.pages == HeapPages::base && &choice == &forBlocks;
  uint64_t step = isShort ? mappedBytes / 8 : 0;
  step = stepBytes(step > needBytes ? step : needBytes);
  keepReturned(needBytes);
  error = ENOMEM;
  for (uint64_t bytes = step;; bytes = exact) {
    if (!heapSpace.mayGrow(arenaBytes.load(std::memory_order_relaxed), bytes)) {
      if (bytes == exact)
        return {};
      continue;
    }
    Range memory{start, start + bytes};
    // A frame begins at a multiple of any alignment up to its size.
    error = start ? heapSpace.acquireAt(start, bytes, supply)
                  : heapSpace.acquire(bytes, heapSpace.hugePageBytes(), supply,
                                      memory);
    if (!error) {
      choice.note(memory, supply.pages);
      mappedBytes += bytes;
      arenaBytes.fetch_add(bytes, std::memory_order_relaxed);
      newest = memory.start;
      top = memory.end;
      return runs.recycle(
          {getPage(memory.start), uint32_t(bytes / heapPageBytes), true});
    }
    if (bytes == exact)
      return {};
  }
}

/// At the end of the memory that came last if that can be, for then what is
/// free there counts.
FreeRuns::Run Arena::grow(uint32_t pages, uint32_t alignment,
                          PageChoice &choice, int &error) {
  uint64_t need = uint64_t(pages) * heapPageBytes;
  if (!choice.wantsHead() && top) {
    FreeRuns::Run last = runs.endingAt(getPage(top));
    uint64_t there = roundDown(last.length, alignment) * heapPageBytes;
    if (there < need)
      if (FreeRuns::Run grown = addMemory(top, need - there, choice, error);
          grown.first)
        return grown;
  }
  return addMemory(0, need, choice, error);
}

/// The whole frames of a free run.
static Range framesIn(FreeRuns::Run run) {
  return innerHugeFrames({addressOfPage(run.first), addressOfPage(run.end())},
                         heapSpace.hugePageBytes());
}

/// Takes the last whole frames out of a free run, at most \p max bytes, for
/// unlock() to return. Returns their number.
uint64_t Arena::returnFrames(FreeRuns::Run run, uint64_t max) {
  Range inner = framesIn(run);
  max = roundDown(max, heapSpace.hugePageBytes());
  if (inner.bytes() > max)
    inner.start = inner.end - max;
  if (inner.empty())
    return 0;
  auto pages = uint32_t(inner.bytes() / heapPageBytes);
  uint32_t first = getPage(inner.start);
  runs.cut(run, first, pages);
  heapMap.pages[first] = {pages, leaving, 0, id, 0, UnitState::inside};
  leaving = first;
  forSlabs.forget(inner);
  forBlocks.forget(inner);
  forLongBlocks.forget(inner);
  mappedBytes -= inner.bytes();
  arenaBytes.fetch_sub(inner.bytes(), std::memory_order_relaxed);
  if (inner.contains(top - 1)) // older memory may follow it
    top = inner.start;
  return inner.bytes();
}

void Arena::unlock() {
  uint32_t first = leaving;
  leaving = 0;
  lock.unlock();
  // Not under the lock: who watches memory going away may allocate and free.
  while (first) {
    UnitEntry entry = heapMap.pages[first];
    uintptr_t start = addressOfPage(first);
    heapSpace.recycle({start, start + entry.length * heapPageBytes});
    first = entry.next;
  }
}

/// Returns free frames, so that \p keepBytes of free memory stay. Returns their
/// bytes.
uint64_t Arena::returnRuns(uint64_t keepBytes) {
  const size_t hugeBytes = heapSpace.hugePageBytes();
  auto framePages = uint32_t(hugeBytes / heapPageBytes);
  for (uint64_t returned = 0;;) {
    uint64_t free = runs.freeUnits() * heapPageBytes;
    if (free < hugeBytes || free - hugeBytes < keepBytes)
      return returned;
    FreeRuns::Run run = runs.find(framePages, framePages);
    if (!run.first)
      return returned;
    returned += returnFrames(run, free - keepBytes);
  }
}

bool Arena::trim(uint64_t keepBytes) {
  lock.lock();
  setKept(0);
  returnedBytes = 0;
  emptyQueue();
  dissolveListed();
  returnRuns(keepBytes);
  bool any = leaving != 0;
  unlock();
  return any;
}

bool Arena::trimPages(uint64_t keepBytes) {
  // To empty pages takes a system call for each run. Meanwhile the runs are
  // blocks in a list of ours, so that other threads can have the lock.
  uint32_t taken = 0;
  lock.lock();
  if (runs.freeUnits() * heapPageBytes > keepBytes)
    runs.drainEach([&](FreeRuns::Run run) {
      lock.assertHeld();
      heapMap.pages[run.first] = {run.length, taken,      0,
                                  id,         run.isZero, UnitState::cached};
      taken = run.first;
      return runs.freeUnits() * heapPageBytes > keepBytes;
    });
  lock.unlock();
  bool any = false;
  for (uint32_t page = taken; page; page = heapMap.pages[page].next)
    any |= heapSpace.empty({addressOfPage(page),
                            addressOfPage(page + heapMap.pages[page].length)});
  lock.lock();
  while (taken) {
    UnitEntry entry = heapMap.pages[taken];
    heapMap.pages[taken].state = UnitState::inside;
    runs.recycle({taken, entry.length, entry.detail != 0});
    taken = entry.next;
  }
  unlock();
  return any;
}

uint32_t Arena::acquireSlabFrame(int &error) {
  constexpr uint32_t pages = slabFrameBytes / heapPageBytes,
                     all = hugeFrameBytes / heapPageBytes;
  emptyQueue();
  // The first one is at one of several places, as the first block.
  uint32_t wanted = mappedBytes == 0 ? all : pages, dirtyPages;
  uint32_t page = acquire(wanted, wanted, &forSlabs, dirtyPages, error);
  if (page && wanted == all)
    page = keepPart({page, all, dirtyPages == 0}, pages,
                    heapMap.random / 2048 % (all / pages) * pages)
               .first;
  if (page)
    heapMap.pages[page] = {0, 0, 0, id, 0, UnitState::slabs};
  return page;
}

void Arena::recycleSlabFrame(uint32_t page) {
  lock.lock();
  recycleRun(page, slabFrameBytes / heapPageBytes);
  unlock();
}

// Arenas

namespace {

struct Arenas {
  static constexpr unsigned max = 65535;
  FutexLock lock;
  unsigned limit = 1; ///< with locks; 0: one for each thread
  /// Those that are not of one NUMA node.
  unsigned ordinary MPG_GUARDED_BY(lock) = 0;
  /// Of threads that have ended.
  Arena *released MPG_GUARDED_BY(lock) = nullptr;
  std::atomic<unsigned> count{0};
  std::atomic<Arena *> *all = nullptr;
};

} // namespace

static Arenas arenas;

/// A new arena; null if there is no memory for it or there are too many.
static Arena *addArena(int node) MPG_REQUIRES(arenas.lock) {
  unsigned number = arenas.count.load(std::memory_order_relaxed);
  void *memory =
      number < Arenas::max ? heapSpace.metadata(sizeof(Arena)) : nullptr;
  if (!memory)
    return nullptr;
  auto *arena = new (memory) Arena;
  arena->start(uint16_t(number), node);
  arenas.ordinary += node < 0;
  arenas.all[number].store(arena, std::memory_order_relaxed);
  arenas.count.store(number + 1, std::memory_order_release);
  return arena;
}

bool mpg::startArenas(const Config &config) {
  arenaSettings.coloring = config.coloring;
  if (config.checkGiven) // guards, or nothing
    arenaSettings.maxEdgedBytes = 0;
  arenaSettings.trimBytes = config.trimThresholdBytes;
  arenaSettings.topPadBytes = config.topPadBytes;
  arenaSettings.heapStepBytes = config.heapStepBytes;
  arenas.limit = config.arenaLockType == 0 ? 0 : unsigned(config.maxArenaNum);
  arenas.all = static_cast<std::atomic<Arena *> *>(
      heapSpace.metadata(Arenas::max * sizeof arenas.all[0]));
  Locked hold(arenas.lock);
  return arenas.all && addArena(-1);
}

Arena &mpg::arenaAt(uint16_t number) {
  MPG_CHECK(number < arenaCount());
  return *arenas.all[number].load(std::memory_order_relaxed);
}

unsigned mpg::arenaCount() {
  return arenas.count.load(std::memory_order_acquire);
}

bool mpg::eachThreadHasArena() { return arenas.limit == 0; }

/// The arena that a thread begins with.
static Arena *firstArena() {
  Locked hold(arenas.lock);
  if (arenas.limit != 0 || rawCall(SYS_gettid) == rawCall(SYS_getpid))
    return &arenaAt(0);
  if (Arena *arena = arenas.released) {
    arenas.released = arena->nextReleased;
    return arena;
  }
  Arena *arena = addArena(-1);
  return arena ? arena : &arenaAt(0);
}

/// Locks any arena whose lock is free, or a new one if there may be more.
/// Returns it with its lock held; null: there is none.
static Arena *lockAnother() MPG_NO_ANALYSIS {
  unsigned count = arenaCount();
  for (unsigned i = 0; i < count; ++i) {
    Arena &arena = arenaAt(uint16_t(i));
    if (!arena.isOfNode() && arena.lock.tryLock())
      return &arena;
  }
  Locked hold(arenas.lock);
  Arena *arena = arenas.ordinary < arenas.limit ? addArena(-1) : nullptr;
  if (arena)
    arena->lock.lock();
  return arena;
}

Arena &mpg::lockArena(Arena *&held) MPG_NO_ANALYSIS {
  if (!held)
    held = firstArena();
  if (arenas.limit > 1 && !held->lock.tryLock()) {
    if (Arena *other = lockAnother())
      return *(held = other);
    held->lock.lock();
  } else if (arenas.limit <= 1) {
    held->lock.lock();
  }
  return *held;
}

Arena *mpg::arenaOfNode(int node) {
  Locked hold(arenas.lock);
  for (unsigned i = 0; i < arenaCount(); ++i)
    if (arenaAt(uint16_t(i)).isOn(node))
      return &arenaAt(uint16_t(i));
  return addArena(node);
}

void mpg::releaseArena(Arena *arena) {
  // The first one is the main thread's, and of threads that find no other.
  if (!arena || arenas.limit != 0 || arena->number() == 0)
    return;
  Locked hold(arenas.lock);
  arena->nextReleased = arenas.released;
  arenas.released = arena;
}

void mpg::lockArenas() MPG_NO_ANALYSIS {
  arenas.lock.lock();
  for (unsigned i = 0; i < arenaCount(); ++i) {
    arenaAt(uint16_t(i)).lock.lock();
    arenaAt(uint16_t(i)).emptyQueue();
  }
}

void mpg::unlockArenas(bool inChild) MPG_NO_ANALYSIS {
  for (unsigned i = arenaCount(); i-- > 0;) {
    Arena &arena = arenaAt(uint16_t(i));
    if (inChild)
      arena.dropQueue();
    inChild ? arena.lock.reset() : arena.lock.unlock();
  }
  inChild ? arenas.lock.reset() : arenas.lock.unlock();
}
