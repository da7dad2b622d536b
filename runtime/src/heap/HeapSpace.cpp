// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HeapSpace.h. The lock covers the choice of addresses only. Mapping and
// paging in, which take long, happen without it, so threads with different
// arenas grow at the same time.

#include "heap/HeapSpace.h"
#include "base/Check.h"

#include "base/Cgroup.h"
#include "base/SelfMaps.h"
#include "base/Syscall.h"
#include "heap/HeapReport.h"
#include "pages/LargeMemory.h"
#include "pages/PagesNuma.h"
#include "pages/Shortage.h"

#include <errno.h>
#include <string.h>
#include <sys/sysinfo.h>

using namespace mpg;

HeapMap mpg::heapMap;
HeapSpace mpg::heapSpace;

static constexpr size_t slabEntryBytes = 64; // Slab, HeapSmall.h
static constexpr uint32_t isSplit = 1; // in place of the length of a frame
/// In place of its owner: pageIn() has touched it.
static constexpr uint16_t isPresent = 2;

// The range and its tables

/// Four times the memory, because the range gets holes. Limits do not matter:
/// chosen addresses use nothing.
static uint64_t wantedBytes() {
  constexpr uint64_t max = uint64_t(15) << 40; // in 32 bits of pages
  struct sysinfo info;
  if (isError(rawCall(SYS_sysinfo, long(&info))))
    return uint64_t(1) << 40;
  uint64_t memory = uint64_t(info.totalram) * info.mem_unit;
  return 4 * memory < max ? 4 * memory : max;
}

/// Bytes of the tables of slabs and of pages, from one page to another.
static size_t slabTableBytes(size_t rangeBytes) {
  return roundUp(rangeBytes / slabBytes * slabEntryBytes, basePageBytes());
}
static size_t pageTableBytes(size_t rangeBytes) {
  // With one more entry: FreeRuns reads the one after a run.
  return roundUp((rangeBytes / heapPageBytes + 1) * sizeof(UnitEntry),
                 basePageBytes());
}

/// Bytes that a page table of 4 KiB pages covers.
static constexpr size_t tableReachBytes = 2 << 20;
static constexpr size_t metadataStepBytes = 256 << 10;

static size_t frameTableBytes(size_t rangeBytes, size_t hugeBytes) {
  return (rangeBytes / hugeBytes + 1) * sizeof(UnitEntry);
}

/// For the frames, the arenas and the first threads.
static size_t metadataRoomBytes(size_t rangeBytes, size_t hugeBytes) {
  return roundUp(frameTableBytes(rangeBytes, hugeBytes), metadataStepBytes) +
         3 * metadataStepBytes;
}

/// Addresses for all of it, wherever they begin.
static size_t allTableBytes(size_t rangeBytes, size_t hugeBytes) {
  return roundUp(
      slabTableBytes(rangeBytes) + tableReachBytes + metadataStepBytes +
          metadataRoomBytes(rangeBytes, hugeBytes) + pageTableBytes(rangeBytes),
      hugeBytes);
}

bool HeapSpace::start(const Config &settings, Messages &speaker) {
  // With less than that the C library's malloc does better.
  constexpr uint64_t min = uint64_t(256) << 20;
  config = &settings;
  messages = &speaker;
  hugeBytes = settings.hugeBytes;
  pagesInBlocks =
      settings.mode != Mode::thp && settings.mmapPaging == Paging::prepage;
  // Of the pool alone, and asking takes a tenth of the start.
  if (settings.mode != Mode::thp)
    reservationMayFailAtStart(hugeBytes);
  if (settings.fallbackGiven || hugeBytes != hugeFrameBytes)
    reportEveryFallback();
  // The first and the last frame are never used.
  for (uint64_t bytes = roundUp(wantedBytes(), hugeBytes);
       reserved.empty() && bytes >= min && bytes >= 4 * hugeBytes;
       bytes = roundUp(bytes / 2, hugeBytes)) {
    Range all =
        chooseAddresses(bytes + allTableBytes(bytes, hugeBytes), hugeBytes);
    if (!all.empty())
      reserved = {all.start, all.start + bytes};
  }
  Locked hold(lock);
  if (reserved.empty() || !startTables())
    return false;
  messages->setHeap(reserved, tables.end + pageTableBytes(reserved.bytes()));
  return true;
}

bool HeapSpace::startTables() {
  const size_t bytes = reserved.bytes();
  // A small program's part of them all has its entries in one page table.
  slabsEnd = roundUp(reserved.end + slabTableBytes(bytes), tableReachBytes) +
             metadataStepBytes;
  tables = {slabsEnd, slabsEnd + metadataRoomBytes(bytes, hugeBytes)};
  if (mapTable(tables) != 0)
    return false;
  {
    Locked hold(metadataLock);
    metadataLeft = tables;
  }
  size_t table = frameTableBytes(bytes, hugeBytes);
  frames = static_cast<UnitEntry *>(metadata(table));
  heapMap.slabs = reinterpret_cast<Slab *>(slabsEnd - slabEntryBytes);
  heapMap.pages = reinterpret_cast<UnitEntry *>(tables.end);
  heapMap.base = reserved.start;
  heapMap.random = uint32_t(addressRandom());
  addresses.start(frames, 0);
  kept.start(frames, 1);
  addresses.recycle({1, uint32_t(bytes / hugeBytes - 2), false});
  return true;
}

/// Opens the tables of the first \p count frames, in steps.
bool HeapSpace::openTables(size_t count) {
  if (count <= openCount)
    return true;
  constexpr size_t stepBytes = 64 << 20;
  size_t bytes = roundUp(count * hugeBytes, stepBytes);
  if (bytes > reserved.bytes())
    bytes = reserved.bytes();
  uintptr_t start = slabsEnd - slabTableBytes(bytes);
  uintptr_t end = uintptr_t(heapMap.pages) + pageTableBytes(bytes);
  if (start < tables.start && mapTable({start, tables.start}) != 0)
    return false;
  tables.start = start < tables.start ? start : tables.start;
  if (end > tables.end && mapTable({tables.end, end}) != 0)
    return false;
  tables.end = end > tables.end ? end : tables.end;
  openCount = bytes / hugeBytes;
  heapMap.openBytes.store(bytes, std::memory_order_release);
  return true;
}

uint64_t HeapSpace::metadataBytes() const {
  size_t open = heapMap.openBytes.load(std::memory_order_relaxed);
  return open / slabBytes * slabEntryBytes +
         open / heapPageBytes * sizeof(UnitEntry) + metadataTaken;
}

Range HeapSpace::getTables() {
  Locked hold(lock);
  return tables;
}

void *HeapSpace::metadata(size_t bytes) {
  Locked hold(metadataLock);
  bytes = roundUp(bytes, 64);
  if (metadataLeft.bytes() < bytes) {
    Range more = reserve(roundUp(bytes, metadataStepBytes), basePageBytes());
    if (more.empty() || openReserved(more) != 0)
      return nullptr;
    metadataLeft = more;
  }
  void *memory = reinterpret_cast<void *>(metadataLeft.start);
  metadataLeft.start += bytes;
  metadataTaken += bytes;
  return memory;
}

FreeRuns::Run HeapSpace::getRun(Range memory) const {
  return {uint32_t((memory.start - reserved.start) / hugeBytes),
          uint32_t(memory.bytes() / hugeBytes), false};
}

Range HeapSpace::getRange(FreeRuns::Run run) const {
  uintptr_t start = reserved.start + run.first * hugeBytes;
  return {start, start + run.length * hugeBytes};
}

// Memory comes

static uint64_t &bytesOn(MappedBytes &bytes, Source source) {
  return source == Source::hugetlb ? bytes.huge
         : source == Source::thp   ? bytes.thp
                                   : bytes.normal;
}

/// The frames of \p memory have pages of \p source now.
void HeapSpace::note(Range memory, Source source) {
  FreeRuns::Run run = getRun(memory);
  for (uint32_t i = run.first; i < run.end(); ++i)
    frames[i] = {0, 0, 0, 0, uint8_t(source), UnitState::mapped};
  bytesOn(now, source) += memory.bytes();
  if (now.huge > maxHugeBytes)
    maxHugeBytes = now.huge;
  if (now.all() > maxBytes)
    maxBytes = now.all();
}

/// The frames of \p memory, which were noted, are about to lose their pages.
void HeapSpace::forget(Range memory) {
  FreeRuns::Run run = getRun(memory);
  for (uint32_t i = run.first; i < run.end(); ++i)
    bytesOn(now, Source(frames[i].detail)) -= hugeBytes;
  setState(memory, UnitState::lost);
}

void HeapSpace::setState(Range memory, UnitState state) {
  FreeRuns::Run run = getRun(memory);
  for (uint32_t i = run.first; i < run.end(); ++i)
    frames[i].state = state;
}

void HeapSpace::setSource(Range memory, Source source) {
  assertHeld();
  FreeRuns::Run run = getRun(memory);
  for (uint32_t i = run.first; i < run.end(); ++i) {
    bytesOn(now, Source(frames[i].detail)) -= hugeBytes;
    __atomic_store_n(&frames[i].detail, uint8_t(source), __ATOMIC_RELAXED);
    frames[i].length = 0;
    frames[i].owner = 0;
  }
  bytesOn(now, source) += memory.bytes();
}

void HeapSpace::reportRegion() {
  uint64_t mapped = now.all();
  messages->region(MPG_REGION_HEAP, {reserved.start, reserved.start + mapped},
                   now.huge + now.thp, hugeBytes,
                   now.huge < mapped ? heapFallbackReason() : nullptr);
}

/// Maps pages of the pool for the start of \p memory: all of it or, if the heap
/// may use other pages as well, as much as the pool has. Shrinks \p memory to
/// the part it got.
int HeapSpace::mapPool(Range &memory, bool allOrNothing) {
  int error = mapChosen(memory, Source::hugetlb, hugeBytes);
  if (!error)
    return 0;
  // The pool knows how many are left; a limit below that only refuses.
  bool isAll = allOrNothing || error == EEXIST;
  uint64_t pages = memory.bytes() / hugeBytes - 1;
  uint64_t left = isAll || !pages ? 0 : readPool(hugeBytes).available();
  for (pages = pages < left ? pages : left; pages; pages /= 2) {
    memory.end = memory.start + pages * hugeBytes;
    if (mapChosen(memory, Source::hugetlb, hugeBytes) == 0)
      return error;
  }
  memory.end = memory.start;
  return error;
}

/// Maps large pages of the pool for the start of \p memory. Returns the number
/// of bytes that are certain to have one. If not all, \p error is the reason.
size_t HeapSpace::mapHuge(Range memory, const HeapSupply &supply, int &error) {
  int node = supply.node;
  if (!poolIsOpen()) { // after a fork
    error = ENOMEM;
    return 0;
  }
  error = mapPool(memory, !config->fallback || node >= 0);
  if (memory.empty())
    return 0;
  size_t present = memory.bytes();
  int placed = 0;
  if (node >= 0)
    placed = place(memory, Placement::bind, NodeSet::of(node));
  if (placed)
    present = 0;
  else if (node >= 0 || reservationMayFailNow(hugeBytes))
    present = populate(memory, hugeBytes);
  if (present < memory.bytes()) {
    error = placed ? placed : ENOMEM;
    unmapMemory({memory.start + present, memory.end});
  }
  return present;
}

bool HeapSpace::mayWait() const {
  return config->mode == Mode::thp && thpIsAllowed() && !isLockedIn &&
         hugeBytes == hugeFrameBytes && basePageBytes() == heapPageBytes;
}

void HeapSpace::enlarge(Range memory, bool isFull) {
  {
    Locked hold(lock);
    setSource(memory, Source::thp);
    reportRegion();
  }
  adviseHuge(memory, isFull);
}

/// Other pages for \p memory, which has none of the pool because of \p error.
int HeapSpace::mapOthers(Range memory, const HeapSupply &supply,
                         uint64_t wanted, int error) {
  bool wantsPool = config->mode != Mode::thp;
  if (wantsPool && !config->fallback) {
    reportHeapRefusal(wanted, hugeBytes, error, *messages);
    return ENOMEM;
  }
  bool waits = supply.pages != HeapPages::large;
  Source source = waits || (thpIsAllowed() && config->mode != Mode::hugetlb &&
                            hugePagesFitGroup(memory.bytes()))
                      ? Source::thp
                      : Source::normal;
  if (int failed =
          mapChosen(memory, waits ? Source::normal : source, hugeBytes))
    return failed == EEXIST ? EEXIST : ENOMEM;
  if (supply.node >= 0 &&
      place(memory, Placement::bind, NodeSet::of(supply.node))) {
    unmapMemory(memory);
    return ENOMEM;
  }
  // After a fork the pool is closed, and the fork has reported that.
  if (poolIsOpen() && (wantsPool || source == Source::normal))
    reportHeapFallback(memory.bytes(), hugeBytes, source, error, *messages);
  Locked hold(lock);
  bool isBase = supply.pages == HeapPages::base;
  note(memory, isBase ? Source::normal : source);
  if (isBase)
    noteHeapReason("the program writes to few of the base pages of its blocks: "
                   "on large pages these would take several times the memory");
  return 0;
}

/// All or nothing; EEXIST: another mapping uses some of the addresses.
int HeapSpace::map(Range memory, const HeapSupply &supply) {
  size_t huge = 0;
  int error = 0;
  if (config->mode != Mode::thp)
    huge = mapHuge(memory, supply, error);
  if (error == EEXIST)
    return error;
  Range part{memory.start, memory.start + huge};
  int failed = 0;
  if (huge < memory.bytes())
    failed = mapOthers({part.end, memory.end}, supply, memory.bytes(), error);
  if (failed)
    unmapMemory(part);
  if (failed || part.empty())
    return failed;
  Locked hold(lock);
  note(part, Source::hugetlb);
  return 0;
}

/// Addresses without memory, which were lost.
void HeapSpace::recycleAddresses(Range memory) {
  Locked hold(lock);
  setState(memory, UnitState::inside);
  addresses.recycle(getRun(memory));
}

static void touchPages(uintptr_t start, uintptr_t end) {
  for (size_t page = basePageBytes(); start < end;
       start = roundDown(start, page) + page)
    // volatile: the compiler would drop an addition of 0
    __atomic_fetch_add(reinterpret_cast<volatile char *>(start), 0,
                       __ATOMIC_RELAXED);
}

void HeapSpace::pageIn(Range memory) const {
  // Not by populate(): while a system call makes pages present, no other thread
  // of the process can map memory.
  if (!pagesInBlocks || !poolIsOpen()) // a child's pages are not reserved
    return;
  for (uintptr_t at = memory.start; at < memory.end;
       at = roundDown(at, hugeBytes) + hugeBytes) {
    UnitEntry &frame = frames[(at - reserved.start) / hugeBytes];
    if (!isHuge(at) || frame.owner == isPresent)
      continue;
    auto *byte = reinterpret_cast<volatile char *>(at);
    *byte = *byte; // not atomic, which would wait for the line
    frame.owner = isPresent;
  }
}

/// Makes the entries of \p memory present: else the first free() of each block
/// of megabytes pays for two page faults. 10 KiB for a frame of 2 MiB, so not
/// for more than a moment's need.
static void touchTables(Range memory) {
  constexpr size_t maxBytes = 64 << 20;
  if (memory.bytes() > maxBytes)
    return;
  size_t start = memory.start - heapMap.base, end = memory.end - heapMap.base;
  auto pages = uintptr_t(heapMap.pages);
  touchPages(pages + start / heapPageBytes * sizeof(UnitEntry),
             pages + end / heapPageBytes * sizeof(UnitEntry));
  uintptr_t first = uintptr_t(heapMap.slabs) + slabEntryBytes;
  touchPages(first - end / slabBytes * slabEntryBytes,
             first - start / slabBytes * slabEntryBytes);
}

/// Memory for addresses that count as lost until they have it; after a failure
/// they are free again, or stay lost if another mapping has them
/// (EEXIST).
int HeapSpace::fill(Range memory, const HeapSupply &supply) {
  if (int error = map(memory, supply)) {
    if (error != EEXIST)
      recycleAddresses(memory);
    return error;
  }
  if (supply.pages != HeapPages::base)
    touchTables(memory);
  Locked hold(lock);
  reportRegion();
  return 0;
}

int HeapSpace::acquireOnce(size_t bytes, size_t alignment,
                           const HeapSupply &supply, Range &memory) {
  MPG_CHECK(bytes % hugeBytes == 0 && bytes > 0);
  if (bytes / hugeBytes >= getRun(reserved).length)
    return ENOSPC;
  {
    Locked hold(lock);
    // The range begins at a multiple of the frame, not of more.
    size_t slack = alignment > hugeBytes ? alignment - hugeBytes : 0;
    if (slack / hugeBytes >= getRun(reserved).length)
      return ENOSPC;
    FreeRuns::Run run =
        addresses.acquire(uint32_t((bytes + slack) / hugeBytes));
    if (!run.first)
      return ENOSPC;
    Range found = getRange(run);
    memory.start = roundUp(found.start, alignment > hugeBytes ? alignment : 1);
    memory.end = memory.start + bytes;
    if (memory.start > found.start)
      addresses.recycle(getRun({found.start, memory.start}));
    if (memory.end < found.end)
      addresses.recycle(getRun({memory.end, found.end}));
    if (!openTables(getRun(memory).end())) {
      addresses.recycle(getRun(memory));
      return ENOSPC;
    }
    setState(memory, UnitState::lost);
  }
  return fill(memory, supply);
}

int HeapSpace::acquire(size_t bytes, size_t alignment, const HeapSupply &supply,
                       Range &memory) {
  // Addresses that another mapping has are not looked at again.
  constexpr unsigned maxTries = 100;
  int error = EEXIST;
  for (unsigned i = 0; i < maxTries && error == EEXIST; ++i)
    error = acquireOnce(bytes, alignment, supply, memory);
  return error == EEXIST ? ENOMEM : error;
}

int HeapSpace::acquireAt(uintptr_t start, size_t bytes,
                         const HeapSupply &supply) {
  Range memory{start, start + bytes};
  if (start < reserved.start || memory.end > reserved.end - hugeBytes)
    return ENOSPC;
  {
    Locked hold(lock);
    FreeRuns::Run run = getRun(memory);
    if (!addresses.acquireAt(run.first, run.length).first)
      return ENOSPC;
    if (!openTables(run.end())) {
      addresses.recycle(run);
      return ENOSPC;
    }
    setState(memory, UnitState::lost);
  }
  int error = fill(memory, supply);
  return error == EEXIST ? ENOSPC : error;
}

bool HeapSpace::mayGrow(uint64_t arenaBytes, uint64_t bytes) {
  return !config->fallback || limitAllows(arenaBytes, bytes, *messages);
}

uint64_t HeapSpace::leftForOthers() {
  if (isLockedIn)
    return 0;
  lock.lock();
  bool isOnPool = now.huge > now.all() / 2;
  lock.unlock();
  if (isOnPool)
    return readPool(hugeBytes).available() * hugeBytes;
  struct sysinfo info;
  if (isError(rawCall(SYS_sysinfo, long(&info))))
    return 0;
  uint64_t left = uint64_t(info.freeram) * info.mem_unit / 2;
  return hugePagesFitGroup(left) ? left : 0;
}

// Memory goes

/// Returned memory is gone at the end, when mpgrun looks. So it is counted
/// before, for mpgrun only: at a new maximum, and a few more times, because a
/// different part of the same amount may be in use.
void HeapSpace::updatePeak() {
  constexpr unsigned maxInspections = 4;
  if (!messages->isHeard())
    return;
  uint64_t mapped;
  bool isCounted;
  {
    Locked hold(lock);
    mapped = now.all();
    isCounted = !now.thp || thpIsCounted();
  }
  if (!isCounted || mapped < lookedAtBytes.load())
    return;
  if (mapped > lookedAtBytes.exchange(mapped))
    looksLeft.store(maxInspections);
  unsigned left = looksLeft.load();
  if (left == 0 || !looksLeft.compare_exchange_strong(left, left - 1))
    return; // enough looks, or another thread takes this one
  RangeUse use = readUse(reserved);
  messages->heapUse(use.bytes, use.poolBytes + use.thpBytes);
}

void HeapSpace::recycle(Range memory) {
  MPG_CHECK(memory.start % hugeBytes == 0 && memory.end % hugeBytes == 0);
  MPG_CHECK(reserved.start <= memory.start && memory.end <= reserved.end);
  updatePeak();
  {
    Locked hold(lock);
    forget(memory);
  }
  unmapChosen(memory);
  recycleAddresses(memory);
  Locked hold(lock);
  reportRegion();
}

bool HeapSpace::keep(Range memory, uint64_t maxBytes) {
  for (uintptr_t at = memory.start; at < memory.end; at += hugeBytes)
    if (!isForSparse(at)) // it came later, for realloc()
      return false;
  // To look at one frame takes a microsecond. In steps of the golden ratio it
  // is another one each time, whatever the order of the blocks is.
  constexpr uint32_t step = 2654435769;
  size_t count = memory.bytes() / hugeBytes;
  uint32_t turn = keepTurn.fetch_add(step, std::memory_order_relaxed);
  uintptr_t at = memory.start + (turn * count >> 32) * hugeBytes;
  size_t present = countPresent({at, at + hugeBytes});
  if (present == SIZE_MAX)
    return false;
  Locked hold(lock);
  // A dense block looks sparse in some frames, so the last ones count, too.
  seenPages += present - seenPages / 4;
  present = present > seenPages / 4 ? present : seenPages / 4;
  size_t pages = present * count;
  if ((keptPages + pages) * heapPageBytes > maxBytes)
    return false;
  keptPages += pages;
  setState(memory, UnitState::inside);
  kept.recycle(getRun(memory));
  return true;
}

/// Frames that were kept are in use again.
Range HeapSpace::reviveKept(FreeRuns::Run run) {
  for (uint32_t i = run.first; i < run.end(); ++i)
    frames[i] = {0, 0, 0, 0, uint8_t(Source::normal), UnitState::mapped};
  return getRange(run);
}

bool HeapSpace::acquireKept(size_t bytes, Range &memory) {
  Locked hold(lock);
  uint64_t all = kept.freeUnits();
  FreeRuns::Run run = kept.acquire(uint32_t(bytes / hugeBytes));
  if (!run.first)
    return false;
  keptPages -= keptPages * run.length / all;
  memory = reviveKept(run);
  return true;
}

bool HeapSpace::recycleKept() {
  for (bool any = false;; any = true) {
    Range memory;
    {
      Locked hold(lock);
      keptPages = 0;
      kept.drainEach([&](FreeRuns::Run run) {
        assertHeld();
        memory = reviveKept(run);
        return false;
      });
    }
    if (memory.empty())
      return any;
    recycle(memory);
  }
}

/// Base pages of \p memory are gone, so its frames are not made whole again.
/// Otherwise a fork would bring back memory that the program returned.
void HeapSpace::noteSplit(Range memory) {
  Locked hold(lock);
  bool wasLarge = false;
  for (uintptr_t at = memory.start; at < memory.end;
       at = roundDown(at, hugeBytes) + hugeBytes) {
    UnitEntry &frame = frames[(at - reserved.start) / hugeBytes];
    frame.length = isSplit;
    wasLarge |= Source(frame.detail) == Source::thp;
  }
  if (wasLarge && noteSplitReason("malloc_trim() splits transparent huge pages "
                                  "to return free memory; fix: fewer calls"))
    reportRegion();
}

bool HeapSpace::empty(Range memory) {
  updatePeak();
  bool any = false;
  for (uintptr_t at = memory.start; at < memory.end;) {
    uintptr_t next = roundDown(at, hugeBytes) + hugeBytes;
    while (next < memory.end && isHuge(next) == isHuge(at))
      next += hugeBytes;
    next = next < memory.end ? next : memory.end;
    if (isHuge(at)) {
      unreturnedBytes.fetch_add(next - at, std::memory_order_relaxed);
      if (clearing.load(std::memory_order_relaxed))
        memset(reinterpret_cast<void *>(at), 0, next - at);
    } else if (emptyChosen(innerHugeFrames({at, next}, basePageBytes()))) {
      noteSplit({at, next});
      any = true;
    }
    at = next;
  }
  return any;
}

/// Whether memory came on base pages because the program writes to few of them.
bool HeapSpace::isForSparse(uintptr_t address) const {
  const UnitEntry &entry = frames[(address - reserved.start) / hugeBytes];
  return mayWait() && Source(entry.detail) == Source::normal;
}

void HeapSpace::clear(Range memory) {
  constexpr size_t minBytes = 256 << 10; // of less, the C library clears all
  const bool isLong = memory.bytes() >= 16 << 20;
  while (!memory.empty()) {
    uintptr_t next = roundDown(memory.start, hugeFrameBytes) + hugeFrameBytes;
    Range part{memory.start, next < memory.end ? next : memory.end};
    Range pages = innerHugeFrames(part, basePageBytes());
    // To look takes a microsecond, a part of what clearing a dense block takes.
    bool isSparse = pages.bytes() >= minBytes &&
                    reserved.contains(part.start) &&
                    (isLong ? !isHuge(part.start) : isForSparse(part.start)) &&
                    countPresent(pages) < pages.bytes() / basePageBytes() / 8;
    if (!isSparse || !emptyChosen(pages))
      pages = {part.end, part.end};
    memset(reinterpret_cast<void *>(part.start), 0, pages.start - part.start);
    memset(reinterpret_cast<void *>(pages.end), 0, part.end - pages.end);
    memory.start = part.end;
  }
}

bool HeapSpace::returnSparse(bool (*emptyAgain)(size_t), size_t keepBytes) {
  constexpr uint64_t worthBytes = 32 << 20;
  uint64_t bytes = unreturnedBytes.exchange(0),
           hugePages = now.huge / hugeBytes;
  if (bytes < worthBytes || bytes < now.huge / 2)
    return false;
  if (leaveSparse && !isLockedIn) {
    clearing.fetch_add(1);
    emptyAgain(keepBytes);
    clearing.fetch_sub(1);
    unreturnedBytes.store(0);
    if (leaveSparse()) {
      lockAll();
      noteReason(
          "malloc_trim() returns pages of the pool that are mostly free; "
          "fix: fewer calls");
      unlockAll(/*inChild=*/false);
      return true;
    }
  }
  if (messages->hasSaid(MPG_MSG_TRIM))
    return false;
  LineBuffer line;
  line.add("heap: malloc_trim() cannot give back ")
      .addBytes(bytes)
      .add(" of free memory: the kernel takes back only whole pages of the "
           "pool, and blocks are in use on ")
      .addNumber(hugePages)
      .add(" of them; fix: MPG_MODE=thp");
  messages->report(MPG_MSG_TRIM, line);
  return false;
}

bool HeapSpace::isHuge(uintptr_t address) const {
  MPG_CHECK(reserved.contains(address));
  const UnitEntry &entry = frames[(address - reserved.start) / hugeBytes];
  return entry.state == UnitState::mapped &&
         Source(__atomic_load_n(&entry.detail, __ATOMIC_RELAXED)) ==
             Source::hugetlb;
}

/// The part of \p memory that is the heap's.
static Range within(Range memory, Range reserved) {
  return {memory.start > reserved.start ? memory.start : reserved.start,
          memory.end < reserved.end ? memory.end : reserved.end};
}

bool HeapSpace::hasHuge(Range memory) const {
  Range part = within(memory, reserved);
  for (uintptr_t at = part.start; at < part.end;
       at = roundDown(at, hugeBytes) + hugeBytes)
    if (isHuge(at))
      return true;
  return false;
}

void HeapSpace::leaveHuge(Range memory) {
  assertHeld();
  Range part = within(memory, reserved);
  for (uintptr_t at = part.start; at < part.end; at += hugeBytes)
    if (isHuge(at))
      setSource({at, at + hugeBytes}, Source::normal);
}

void HeapSpace::noteReason(const char *reason) {
  assertHeld();
  if (noteHeapReason(reason))
    reportRegion();
}

bool HeapSpace::splitsAtFork(const char *reason) {
  if (!now.thp)
    return false;
  // A signal's handler may fork.
  if (noteSplitReason(reason) && lock.tryLock()) {
    reportRegion();
    lock.unlock();
  }
  return true;
}

Range HeapSpace::nextThpFrame(uintptr_t start) {
  Locked hold(lock);
  uintptr_t end = reserved.start + openCount * hugeBytes;
  if (start < reserved.start)
    start = reserved.start;
  for (; start < end; start += hugeFrameBytes) {
    const UnitEntry &frame = frames[(start - reserved.start) / hugeBytes];
    if (frame.state == UnitState::mapped && frame.length != isSplit &&
        Source(frame.detail) == Source::thp)
      return {start, start + hugeFrameBytes};
  }
  return {};
}

Range HeapSpace::nextHugeFrame(uintptr_t start) const {
  assertHeld();
  uintptr_t end = reserved.start + openCount * hugeBytes;
  if (start < reserved.start)
    start = reserved.start;
  for (; start < end; start += hugeBytes)
    if (isHuge(start))
      return {start, start + hugeBytes};
  return {};
}

void HeapSpace::lockAll() MPG_NO_ANALYSIS {
  lock.lock();
  metadataLock.lock();
}

void HeapSpace::unlockAll(bool inChild) MPG_NO_ANALYSIS {
  inChild ? metadataLock.reset() : metadataLock.unlock();
  inChild ? lock.reset() : lock.unlock();
}

void HeapSpace::forEachHugeRun(void (*visit)(void *, Range), void *context) {
  Range frame = nextHugeFrame(0);
  while (!frame.empty()) {
    Range run = frame;
    while ((frame = nextHugeFrame(run.end)).start == run.end)
      run.end = frame.end;
    visit(context, run);
  }
}
