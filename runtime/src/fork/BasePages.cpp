// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As everywhere (Pages.h), the frame is built elsewhere, filled and moved in.
// Other threads are stopped from before the copy until after the move: a write
// between the two would be lost, whether a thread's own or one that the kernel
// does during a system call. Write protection instead of the stop would not
// work: where a store waits for a handler, a system call gets EFAULT. The
// calling thread runs on libmpg's stack, because its own may be in the frame.
//
// The heap's lock is held: no fork begins meanwhile, and no other thread is
// here.

#include "fork/BasePages.h"

#include "base/SelfMaps.h"
#include "base/StackSwitch.h"
#include "base/Syscall.h"
#include "fork/ForkList.h"
#include "fork/StopThreads.h"
#include "heap/HeapSpace.h"
#include "pages/LargeMemory.h"
#include "segments/Remap.h"
#include "stack/Stack.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

using namespace mpg;

namespace {

struct BasePages {
  bool isOn = false;
  bool hasTold = false;
  size_t hugePageBytes = 0;
  Source source = Source::normal; ///< of whole frames that were emptied
  Messages *messages = nullptr;
};

/// The memory to move, and the stack to run on; in a separate mapping.
struct Job {
  Range range;
  Frames which;
  size_t hugePageBytes;
  int error; ///< ENOENT until something has moved
  alignas(16) char stack[192 << 10];
};

} // namespace

static BasePages base;

static bool leaveSparseFrames();

void mpg::startBasePages(const Config &config, Messages &messages) {
  base.hugePageBytes = config.hugeBytes;
  base.source = config.mode == Mode::automatic && thpIsAllowed()
                    ? Source::thp
                    : Source::normal;
  base.messages = &messages;
  base.isOn = config.mode != Mode::thp;
  if (config.mode == Mode::automatic)
    heapSpace.leaveSparse = leaveSparseFrames;
}

void mpg::noteUnmap(size_t bytes) {
  constexpr size_t minBytes = 4 << 20;
  if (bytes >= minBytes && base.messages)
    base.messages->inspectBeforeUnmap();
}

// Owners

bool mpg::hasLargePages() { return base.messages; }

bool mpg::mayBeLarge(Range range) {
  if (!base.isOn || range.empty())
    return false;
  size_t hugePageBytes;
  if (heapSpace.hasHuge(range) || !notedPart(range, hugePageBytes).empty())
    return true;
  for (Range part : segmentsOnLargePages())
    if (part.overlaps(range))
      return true;
  return false;
}

/// False for memory that the program itself has mapped with MAP_HUGETLB.
static bool isLarge(const Mapping &mapping) {
  static const char anonymous[] = "/anon_hugepage", file[] = "/memfd:";
  bool isHuge = !strncmp(mapping.name, anonymous, sizeof anonymous - 1) ||
                !strncmp(mapping.name, file, sizeof file - 1);
  return isHuge && !mapping.shared && mayBeLarge(mapping.range);
}

// Frames become pages

static int getProtection(const Mapping &mapping) {
  return (mapping.readable ? PROT_READ : 0) |
         (mapping.writable ? PROT_WRITE : 0) |
         (mapping.executable ? PROT_EXEC : 0);
}

static void moveHugeFrames(Job &job, const Mapping &mapping, Range frames) {
  Range part = common(frames, mapping.range);
  if (part.empty() || !isLarge(mapping))
    return;
  int protection = getProtection(mapping);
  if (!mapping.readable)
    protectMemory(part, PROT_READ);
  int error = moveOffLargePages(
      {part, ForkOwner::other, protection, job.hugePageBytes});
  if (error && !mapping.readable)
    protectMemory(part, protection);
  heapSpace.leaveHuge(part);
  if (error || job.error == ENOENT)
    job.error = error;
}

/// The frames that hold \p address unless it is a border.
static Range frameAround(uintptr_t address, size_t hugeBytes) {
  return {roundDown(address, hugeBytes), roundUp(address, hugeBytes)};
}

static void moveAll(void *argument) {
  Job &job = *static_cast<Job *>(argument);
  size_t hugeBytes = job.hugePageBytes;
  SelfMaps maps;
  Mapping mapping;
  Range all{roundDown(job.range.start, hugeBytes),
            roundUp(job.range.end, hugeBytes)};
  Range first = frameAround(job.range.start, hugeBytes);
  Range last = frameAround(job.range.end, hugeBytes);
  while (maps.next(mapping) && mapping.range.start < all.end) {
    if (job.which == Frames::all) {
      moveHugeFrames(job, mapping, all);
      continue;
    }
    moveHugeFrames(job, mapping, first);
    if (last.start != first.start)
      moveHugeFrames(job, mapping, last);
  }
}

static void reportRefused(const char *reason) {
  if (base.hasTold)
    return;
  base.hasTold = true;
  base.messages->report(
      MPG_MSG_KERNEL,
      "a call for single pages of memory on large pages fails with "
      "EINVAL: ",
      reason, "; fix: XOS_MMM_L_HPAGE_TYPE=none for this program");
}

/// Whether there is anything to move: asked before threads are stopped for it.
static bool hasLarge(Range range) {
  SelfMaps maps;
  Mapping mapping;
  while (maps.next(mapping) && mapping.range.start < range.end)
    if (mapping.range.overlaps(range) && isLarge(mapping))
      return true;
  return false;
}

/// Blocks signals: their handlers would run on the frames that are replaced.
static int runStopped(Job &job) {
  // A thread that waits for the lock has to be stopped like all others.
  uint64_t others = ~(uint64_t(1) << (stopSignal - 1)), before = 0;
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&others), long(&before),
          sizeof others);
  heapSpace.lockAll();
  job.error = EBUSY;
  if (stopOtherThreads()) {
    job.error = ENOENT;
    mpg_call_on_stack(job.stack + sizeof job.stack, moveAll, &job);
    resumeOtherThreads();
  }
  heapSpace.unlockAll(/*inChild=*/false);
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&before), 0, sizeof before);
  return job.error;
}

static int moveAway(Range range, Frames which) {
  Staged memory;
  if (buildStaged(Source::normal, roundUp(sizeof(Job), basePageBytes()),
                  basePageBytes(), nullptr, memory))
    return ENOMEM;
  Job &job = *reinterpret_cast<Job *>(memory.range.start);
  job.range = range;
  job.which = which;
  job.hugePageBytes = base.hugePageBytes;
  notedPart(range, job.hugePageBytes);
  int error = runStopped(job);
  discard(memory);
  return error;
}

int mpg::leaveLargePages(Range range, Frames which) {
  if (!hasLarge(range))
    return ENOENT;
  // A page that a device writes to must stay the page of its address.
  if (memoryMayBePinned()) {
    reportRefused("a device may use this memory");
    return EBUSY;
  }
  int error = moveAway(range, which);
  if (error == EBUSY)
    reportRefused("another thread cannot be stopped while they are replaced");
  return error;
}

// malloc_trim

namespace {

/// A frame of the heap on a page of the pool.
struct HeapFrame {
  Range frame; ///< empty: none
  bool isSparse;
};

} // namespace

/// Whether less than half of its base pages have anything but zeros.
static bool isSparse(Range frame) {
  size_t page = basePageBytes(), filled = 0;
  for (uintptr_t at = frame.start; at < frame.end; at += page)
    filled += isFilled(at, page);
  return filled * page < frame.bytes() / 2;
}

/// Under the lock, so that the frame stays; but other threads may write to it.
static HeapFrame nextHeapFrame(uintptr_t from) {
  heapSpace.lockAll();
  HeapFrame found{heapSpace.nextHugeFrame(from), false};
  found.isSparse = !found.frame.empty() && isSparse(found.frame);
  heapSpace.unlockAll(/*inChild=*/false);
  return found;
}

/// In steps, because the other threads are stopped during each.
static bool leaveSparseFrames() {
  constexpr size_t maxBytes = 32 << 20;
  if (memoryMayBePinned())
    return false;
  bool any = false;
  Range sparse;
  for (HeapFrame next = nextHeapFrame(0);;
       next = nextHeapFrame(next.frame.end)) {
    bool isMore = next.isSparse && sparse.end == next.frame.start &&
                  sparse.bytes() < maxBytes;
    if (!isMore && !sparse.empty() && moveAway(sparse, Frames::all))
      return any;
    any |= !isMore && !sparse.empty();
    if (next.frame.empty())
      return any;
    if (isMore)
      sparse.end = next.frame.end;
    else
      sparse = next.isSparse ? next.frame : Range{};
  }
}

// MADV_DONTNEED

static void clear(uintptr_t start, uintptr_t end) {
  if (start < end)
    memset(reinterpret_cast<void *>(start), 0, end - start);
}

/// Libraries that patch madvise() to see registered memory go (UCX) must see \p
/// part go, too. The kernel refuses the call because of its start.
static void announce(Range part, Advise *advise) {
  advise(reinterpret_cast<void *>(part.start + 1), part.bytes() - 1,
         MADV_DONTNEED);
}

/// Empties \p part of one mapping. Clears its frames if memory for new ones is
/// short.
static void emptyPart(Range part) {
  Range inner = innerHugeFrames(part, base.hugePageBytes);
  Staged staged;
  bool isReplaced =
      !inner.empty() && !buildStaged(base.source, inner.bytes(),
                                     base.hugePageBytes, nullptr, staged);
  if (isReplaced &&
      moveInto(staged, inner.start, base.hugePageBytes, Contents::zero)) {
    discard(staged);
    isReplaced = false;
  }
  if (!isReplaced)
    return clear(part.start, part.end);
  heapSpace.lockAll();
  heapSpace.leaveHuge(inner);
  heapSpace.unlockAll(/*inChild=*/false);
  clear(part.start, inner.start);
  clear(inner.end, part.end);
}

static int emptyMapping(const Mapping &mapping, Range part, int advice,
                        Advise *advise) {
  if (isLarge(mapping) && mapping.readable && mapping.writable) {
    announce(part, advise);
    emptyPart(part);
    return 0;
  }
  if (isLarge(mapping))
    leaveLargePages(part, Frames::all);
  auto *start = reinterpret_cast<void *>(part.start);
  return advise(start, part.bytes(), advice) ? errno : 0;
}

int mpg::emptyPages(Range range, int advice, Advise *advise) {
  SelfMaps maps;
  Mapping mapping;
  uintptr_t seen = range.start;
  bool hasHole = false;
  while (seen < range.end && maps.next(mapping)) {
    Range part = common({seen, range.end}, mapping.range);
    if (part.empty())
      continue;
    hasHole |= part.start != seen;
    if (int error = emptyMapping(mapping, part, advice, advise))
      return error;
    seen = part.end;
  }
  return hasHole || seen < range.end ? ENOMEM : 0;
}

// Locked memory

static int lockPages(Range range) {
  return toError(rawCall(SYS_mlock, long(range.start), long(range.bytes())));
}

static int lockTouched(Range range) {
  bool isTouched = false;
  for (size_t bytes; !range.empty(); range.start += bytes) {
    bytes = touchedRun(range, basePageBytes(), isTouched);
    if (!isTouched)
      continue;
    if (int error = lockPages({range.start, range.start + bytes}))
      return error;
  }
  return 0;
}

static bool isWithin(Range range, Range all) {
  return range.start >= all.start && range.end <= all.end;
}

int mpg::lockAllPages() {
  const Range tables = heapSpace.getTables(), stack = getThpStack();
  SelfMaps maps;
  Mapping mapping;
  while (maps.next(mapping)) {
    bool isSparse =
        isWithin(mapping.range, tables) || isWithin(mapping.range, stack);
    if (!mapping.readable || isSparse || isLarge(mapping))
      continue;
    if (!strcmp(mapping.name, "[vvar]") || !strcmp(mapping.name, "[vsyscall]"))
      continue; // the kernel's own
    if (int error = lockPages(mapping.range))
      return error;
  }
  if (int error = lockTouched(tables))
    return error;
  return lockPages(stack) ? lockTouched(stack) : 0;
}
