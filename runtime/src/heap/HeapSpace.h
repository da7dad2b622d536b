// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pages of the heap: one chosen address range, frames of memory in it, and
// the tables beside it. One subtraction finds an address's entry: every 32 KiB
// have a Slab, every 4 KiB a UnitEntry, whether they are in use or not. The
// tables are on normal pages that come when they are touched; they are open up
// to the highest frame that was ever used. The table of slabs grows down and
// that of pages up, with permanent data between them: one mapping, which a fork
// copies faster than three.
//
// Thread-safe, except start. No function here allocates.

#pragma once

#include "base/Check.h"
#include "base/Env.h"
#include "base/FutexLock.h"
#include "base/Messages.h"
#include "heap/FreeRuns.h"
#include "pages/Pages.h"

namespace mpg {

struct Slab;

constexpr size_t heapPageBytes = 4096; ///< unit of medium blocks
constexpr size_t slabBytes = 32 << 10;
constexpr size_t slabFrameBytes = 128 << 10; ///< is divided into slabs

/// Read by every access to the heap; changes rarely.
struct HeapMap {
  uintptr_t base = 0;
  std::atomic<size_t> openBytes{0}; ///< from base on, with tables to be read
  Slab *slabs = nullptr; ///< the first one; the next lies before it (slabAt)
  UnitEntry *pages = nullptr;
  uintptr_t mark = 0;     ///< secret of this process: marks free objects
  uintptr_t edgeMark = 0; ///< its complement: see computeEdge()
  uint32_t random = 0; ///< by which the first addresses differ in each process
};
// Hidden here, too: so it is reached without a register for its address.
extern HeapMap heapMap __attribute__((visibility("hidden")));

/// Bytes of frames by what they lie on.
struct MappedBytes {
  uint64_t huge = 0, thp = 0, normal = 0;
  uint64_t all() const { return huge + thp + normal; }
};

/// The pages of new memory of the heap.
enum class HeapPages : uint8_t {
  large, ///< as the settings say
  late,  ///< base pages now, large ones later: see enlarge()
  base,  ///< base pages, because the program writes to few of them
};

/// How new memory comes.
struct HeapSupply {
  int node = -1; ///< that NUMA node or not at all; -1: as it comes
  HeapPages pages = HeapPages::large; ///< else pre: mayWait()
};

class HeapSpace {
public:
  /// Chooses the range. False if no range is free, or there is no memory for
  /// tables.
  bool start(const Config &config, Messages &messages);

  /// Memory of \p bytes whose start is a multiple of \p alignment (a power of
  /// two), readable, writable and zero. Its pages come when they are touched,
  /// unless that may fail.
  /// Returns 0, ENOMEM (no pages and no fallback), or ENOSPC (the range is
  /// full). pre: bytes is a multiple of the frame.
  int acquire(size_t bytes, size_t alignment, const HeapSupply &supply,
              Range &memory);

  /// The same at \p start, if the addresses there are free.
  int acquireAt(uintptr_t start, size_t bytes, const HeapSupply &supply);

  /// Makes the large pages of \p memory, of a block that nobody else has yet,
  /// present if the settings ask for that. pre: no lock is held, for the kernel
  /// clears them.
  void pageIn(Range memory) const;

  /// Whether memory may come on base pages first: transparent huge pages can be
  /// made of them.
  bool mayWait() const;

  /// Makes \p memory, whole frames that came on base pages, large. \p isFull:
  /// at once; else what is not present yet becomes so when it is touched.
  void enlarge(Range memory, bool isFull);

  /// Whether the limits of the process allow an arena to take \p bytes more;
  /// always where no other malloc may serve. \p arenaBytes: of all arenas.
  bool mayGrow(uint64_t arenaBytes, uint64_t bytes);

  /// Memory of the kind that the heap lies on which others could have now.
  uint64_t leftForOthers();

  /// Gives frames back to the system. pre: they came from take() and are
  /// not in use; several takes may be given back together, or in parts.
  void recycle(Range frames);

  /// Keeps frames, for acquireKept(), if all came on base pages and at most
  /// \p maxBytes of all such are present. False: recycle() them.
  bool keep(Range frames, uint64_t maxBytes);
  /// \p bytes of them, not zero. False: there are none.
  bool acquireKept(size_t bytes, Range &memory);
  /// Gives them back to the system. Returns whether there were any.
  bool recycleKept();
  /// The bytes of all of them. pre: the lock is held (HeapHeld).
  uint64_t keptBytes() const {
    assertHeld();
    return kept.freeUnits() * hugeBytes;
  }

  /// Makes the whole base pages of \p memory zero and gives them back; the
  /// addresses stay, and so do hugetlb pages. Returns whether any went. pre:
  /// nothing in it is in use; no lock is held, as unmapChosen().
  bool empty(Range memory);

  /// Makes \p memory zero, which may be anywhere. Where little of it is present
  /// it gives these pages back: to clear them would make all present. pre: as
  /// empty().
  void clear(Range memory);

  /// To be called after empty(). If most of the heap is free and stays, because
  /// blocks are in use on its pages of the pool: moves frames of which most is
  /// zero off the pool, after \p emptyAgain(keepBytes), during which empty()
  /// clears what it leaves. Returns whether any went; else reports it, once.
  bool returnSparse(bool (*emptyAgain)(size_t), size_t keepBytes);

  /// Moves frames of the heap of which most is zero to normal pages. Null where
  /// the heap is to stay in the pool.
  bool (*leaveSparse)() = nullptr;

  /// Whether memory of others may be at \p address: another thread may map
  /// memory in the range just while the heap grows or shrinks there. pre: the
  /// address lies in the range.
  bool isLost(uintptr_t address) const {
    MPG_CHECK(reserved.contains(address));
    return frames[(address - reserved.start) / hugeBytes].state ==
           UnitState::lost;
  }

  /// Whether the heap has memory at \p address now. pre: as isLost().
  bool hasMemory(uintptr_t address) const {
    MPG_CHECK(reserved.contains(address));
    return frames[(address - reserved.start) / hugeBytes].state ==
           UnitState::mapped;
  }

  /// Whether any of \p memory is on hugetlb pages; what others map or unmap at
  /// this moment is seen or not. Needs no lock.
  bool hasHuge(Range memory) const;

  /// The entry of the frame in which \p page lies. Its links are the owner's
  /// of the frame; they are 0 when it comes.
  UnitEntry &getFrame(uint32_t page) {
    return frames[page / uint32_t(hugeBytes / heapPageBytes)];
  }

  size_t hugePageBytes() const { return hugeBytes; }
  Range range() const { return reserved; }
  MappedBytes mapped() const { return now; }
  uint64_t peakBytes() const { return maxBytes; }
  uint64_t peakHugeBytes() const { return maxHugeBytes; }
  uint64_t metadataBytes() const;
  /// The open part of the tables, of which most is never touched.
  Range getTables();

  /// Memory that lives as long as the process: zeroed, aligned to 64 bytes, on
  /// normal pages. Null if there is none.
  void *metadata(size_t bytes);

  /// Calls \p visit(context, run) with each run of hugetlb memory in the order
  /// of addresses. pre: the lock is held (fork).
  void forEachHugeRun(void (*visit)(void *context, Range run), void *context);
  /// The first of its frames from \p start on; empty: none. pre: as above.
  Range nextHugeFrame(uintptr_t start) const;
  /// \p run lies on \p source from now on. pre: as above.
  void setSource(Range run, Source source);
  /// Reports \p reason, unless there is one, as why not all of it is on large
  /// pages. pre: as above.
  void noteReason(const char *reason);

  /// Records that the hugetlb part of \p memory has moved to normal pages. pre:
  /// as above; whole frames, of the heap or not.
  void leaveHuge(Range memory);

  /// Whether a fork splits pages of the heap: some are transparent huge ones.
  /// Notes \p reason as why they are not all large.
  bool splitsAtFork(const char *reason);
  /// The first frame of 2 MiB from \p start on that is or was on a transparent
  /// huge page; empty if there is none.
  Range nextThpFrame(uintptr_t start);

  /// Nothing is mapped, unmapped, or noted meanwhile. A forked child makes the
  /// locks free.
  void lockAll();
  void unlockAll(bool inChild);

private:
  /// The caller holds the lock, or is the only thread.
  void assertHeld() const MPG_ASSERTS_LOCK(lock) {
    MPG_CHECK(lock.isHeld() || FutexLock::isOnlyThread());
  }
  FreeRuns::Run getRun(Range memory) const;
  Range getRange(FreeRuns::Run run) const;
  bool startTables() MPG_REQUIRES(lock);
  bool openTables(size_t frameCount) MPG_REQUIRES(lock);
  int acquireOnce(size_t bytes, size_t alignment, const HeapSupply &supply,
                  Range &memory);
  int fill(Range memory, const HeapSupply &supply);
  int map(Range memory, const HeapSupply &supply);
  int mapPool(Range &memory, bool allOrNothing);
  size_t mapHuge(Range memory, const HeapSupply &supply, int &error);
  int mapOthers(Range memory, const HeapSupply &supply, uint64_t wantedBytes,
                int error);
  void recycleAddresses(Range memory);
  bool isHuge(uintptr_t address) const;      ///< pre: in the range
  bool isForSparse(uintptr_t address) const; ///< pre: as above
  void note(Range memory, Source source);
  void forget(Range memory);
  void noteSplit(Range memory);
  void setState(Range memory, UnitState state);
  Range reviveKept(FreeRuns::Run run);
  void reportRegion();
  void updatePeak();

  FutexLock lock, metadataLock;
  Range reserved; ///< for the heap; not mapped but where there is memory
  size_t hugeBytes = 0;
  const Config *config = nullptr;
  Messages *messages = nullptr;
  bool pagesInBlocks = false;              ///< the policy asks for it
  UnitEntry *frames = nullptr;             ///< one for each; 0 is never used
  FreeRuns addresses MPG_GUARDED_BY(lock); ///< of frames without memory
  FreeRuns kept MPG_GUARDED_BY(lock);      ///< of frames with base pages
  uint64_t keptPages MPG_GUARDED_BY(lock) = 0; ///< present, of these; about
  uint64_t seenPages MPG_GUARDED_BY(lock) = 0; ///< 4 times the mean of keep()
  std::atomic<uint32_t> keepTurn{0};
  uintptr_t slabsEnd = 0;                    ///< what has no slab begins here
  Range tables MPG_GUARDED_BY(lock);         ///< the open part
  size_t openCount MPG_GUARDED_BY(lock) = 0; ///< frames whose tables are open
  MappedBytes now;
  uint64_t maxBytes = 0, maxHugeBytes = 0;  ///< of `now`, each by itself
  std::atomic<uint64_t> lookedAtBytes{0};   ///< mapped at the last look
  std::atomic<unsigned> looksLeft{0};       ///< until there is more mapped
  std::atomic<uint64_t> unreturnedBytes{0}; ///< that empty() had to leave
  std::atomic<unsigned> clearing{0};        ///< threads in returnSparse()
  Range metadataLeft MPG_GUARDED_BY(metadataLock);
  std::atomic<uint64_t> metadataTaken{0};
};

extern HeapSpace heapSpace;

} // namespace mpg
