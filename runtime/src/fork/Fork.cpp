// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fork() and hugetlb pages: a write to a private page that parent and child
// share takes a new page of the pool, which nobody reserved. If there is none,
// the kernel takes the old page away from the child, or ends a writing child
// with SIGBUS. Checking the pool before is not enough: other processes take
// pages between the check and the write. So, from the moment that fork()
// returns,
//
//   no hugetlb page of ours is mapped by two processes.
//
// Before a fork all memory of libmpg leaves hugetlb pages for good, while the
// other threads are stopped; on normal pages the kernel shares as in every
// program. There are two exceptions: memory that a device may have pinned must
// keep its frames, and a thread may fail to stop. Then the child gets a copy,
// does not inherit the memory itself, and starts on libmpg's stack until the
// copy is in place. If there is no memory for either, fork() fails.
//
// That happens when the program calls fork() or a similar function, where the
// call can still fail, and again in the handlers of pthread_atfork, because the
// C library forks by itself and other handlers allocate memory. The constructor
// registers the handlers before nearly all others: so our first handler runs
// last before the fork, and our others run first after it. Between them signals
// wait and no other thread forks: a handler that forks would meet its own
// half-made copy.
//
// vfork() and posix_spawn(), which system() and popen() use since glibc 2.29,
// share memory, so they are safe and skip all this.

#include "fork/Fork.h"

#include "base/Cgroup.h"
#include "base/SelfMaps.h"
#include "base/StackSwitch.h"
#include "base/Syscall.h"
#include "fork/ForkList.h"
#include "fork/StopThreads.h"
#include "heap/Collapse.h"
#include "heap/Heap.h"
#include "heap/HeapSpace.h"
#include "pages/LargeMemory.h"
#include "segments/Remap.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

using namespace mpg;

// glibc's, exported for its old C++ streams.
extern "C" void _IO_list_lock() __attribute__((weak));
extern "C" void _IO_list_unlock() __attribute__((weak));

namespace {

/// How a fork treats memory on large pages.
enum class Safety { safe, copyNeeded, impossible };

struct Forks {
  const Config *config = nullptr;
  Messages *messages = nullptr;
  bool hasStreams = false; ///< the list of streams is locked
  uint32_t owner = 0;      ///< thread with the lock; 0: it is free
  unsigned depth = 0;      ///< of the owner's calls
  uint64_t signals = 0;    ///< blocked before; the owner's
  int errorNumber = 0;     ///< the program's; the owner's
  ForkList list;           ///< of the copy
  ForkCopy copy;
};

} // namespace

static Forks forks;

// One fork at a time

/// Never 0, which is no owner; unknown: the same for all threads.
static uint32_t ownerId() {
  uint32_t id = threadId();
  return id ? id : uint32_t(rawCall(SYS_getpid));
}

/// Whether this thread is in fork(): a handler of the program has called us.
static bool isInFork() {
  return __atomic_load_n(&forks.owner, __ATOMIC_RELAXED) == ownerId();
}

static void enter() {
  if (isInFork()) {
    ++forks.depth;
    return;
  }
  uint32_t self = ownerId();
  int errorNumber = errno;
  // A thread that waits here has to be stopped like all others.
  uint64_t others = ~(uint64_t(1) << (stopSignal - 1)), before = 0;
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&others), long(&before),
          sizeof others);
  for (uint32_t holder = 0;
       !__atomic_compare_exchange_n(&forks.owner, &holder, self, /*weak=*/false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);) {
    // A child without our handlers has the lock of a thread of its parent.
    if (rawCall(SYS_tgkill, rawCall(SYS_getpid), holder, 0) == -ESRCH)
      continue; // and take it from there
    rawCall(SYS_sched_yield);
    holder = 0;
  }
  forks.depth = 1;
  forks.signals = before;
  forks.errorNumber = errorNumber;
}

static void leave() {
  if (--forks.depth)
    return;
  int errorNumber = forks.errorNumber;
  uint64_t before = forks.signals;
  __atomic_store_n(&forks.owner, 0, __ATOMIC_RELEASE);
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&before), 0, sizeof before);
  errno = errorNumber;
}

// Off the large pages

namespace {

/// While it lives, libmpg may open some files beyond the program's soft limit,
/// though not beyond the hard limit.
class RoomForFiles {
public:
  RoomForFiles() {
    constexpr uint64_t some = 8;
    known = !isError(rawCall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, long(before)));
    uint64_t left = known ? before[1] - before[0] : 0;
    set(before[0] + (left < some ? left : some));
  }
  ~RoomForFiles() { set(before[0]); }
  RoomForFiles(const RoomForFiles &) = delete;
  RoomForFiles &operator=(const RoomForFiles &) = delete;

private:
  void set(uint64_t max) const {
    uint64_t limit[2] = {max, before[1]};
    if (known)
      rawCall(SYS_prlimit64, 0, RLIMIT_NOFILE, long(limit), 0);
  }
  uint64_t before[2] = {};
  bool known;
};

} // namespace

static bool hasLargePages() {
  return segmentHugeBytes() || heapSpace.mapped().huge || hasLargeMemory();
}

/// Whether the node and the job's group have \p bytes of normal memory to
/// spare. True if that is unknown.
static bool memoryCanBeHad(uint64_t bytes) {
  // Leave some for other processes: on a node more than in a group.
  constexpr uint64_t nodeReserveBytes = 64 << 20, groupReserveBytes = 4 << 20;
  uint64_t available;
  if (readMemoryInfo("MemAvailable:", available) &&
      available < bytes + nodeReserveBytes)
    return false;
  return readCgroupMemoryLeft() >= bytes + groupReserveBytes;
}

static constexpr uint64_t littleBytes = 64 << 20;

static bool mayBeThp() {
  return forks.config->mode == Mode::automatic && thpIsAllowed();
}

static Source sourceFor(uint64_t bytes) {
  return mayBeThp() && bytes >= littleBytes ? Source::thp : Source::normal;
}

/// If there is little memory, mostly empty frames go to normal pages, as
/// without libmpg: the program then takes at most twice the memory that it has
/// filled. Full frames make a fork faster, which copies one entry instead of
/// hundreds. Not on kernels before 5.8, where one byte that a child writes
/// copies the page; those before 5.16 cannot move hugetlb memory.
static void choosePages(ForkList &list, uint64_t presentBytes) {
  list.moveTo(sourceFor(presentBytes));
  bool isLittle = presentBytes < littleBytes;
  if (isLittle && mayBeThp() && canMove(Source::hugetlb))
    list.moveByContents();
}

static uint64_t thpBytes(const void *list, Range region) {
  return static_cast<const ForkList *>(list)->thpBytes(region);
}

static void noteMoved(const ForkList &list) {
  bool isHeapNormal = false;
  for (const ForkStretch &stretch : list) {
    bool isHeap = stretch.owner == ForkOwner::heap;
    isHeapNormal |= isHeap && stretch.source == Source::normal;
    if (isHeap)
      heapSpace.setSource(stretch.range, stretch.source);
    else if (stretch.source == Source::thp)
      watchForCollapse(stretch.range);
  }
  if (isHeapNormal)
    heapSpace.noteReason(movedByForkReason);
  segmentsHaveLeft(thpBytes, &list);
  stacksHaveLeft(thpBytes, &list);
  forgetLargeMemory();
}

static uint64_t millisecondsNow() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000 + uint64_t(now.tv_nsec) / 1000000;
}

namespace {

/// Memory that left the pool.
struct Moved {
  uint64_t bytes = 0;
  uint64_t delayedBytes = 0;      ///< on normal pages for now
  Source source = Source::normal; ///< of large memory
};

} // namespace

static void reportMoved(const Moved &moved, uint64_t milliseconds) {
  LineBuffer line("fork: ", Bytes(moved.bytes), " have left the pool for ",
                  moved.source == Source::thp ? "transparent huge" : "normal",
                  " pages for good, in ", milliseconds, " ms");
  if (moved.delayedBytes)
    line.addAll(", ", Bytes(moved.delayedBytes),
                " of them for normal ones at first, because free memory is in "
                "small pieces: malloc makes them large later");
  line.add(": a child cannot be sure to get large pages when it writes; "
           "cost: more TLB misses; fix: posix_spawn() or vfork() instead, or "
           "MPG_FORK=share where children only call exec");
  forks.messages->report(MPG_MSG_FORK, line);
}

/// Returns an errno value. pre: the other threads stand still.
static int moveAll(Moved &moved) {
  ForkList list;
  int error = ENOMEM;
  if (list.find(forks.config->hugeBytes)) {
    moved.bytes = list.presentBytes();
    bool fits = memoryCanBeHad(moved.bytes);
    if (fits) {
      moved.source = sourceFor(moved.bytes);
      choosePages(list, moved.bytes);
    }
    fits = fits || memoryCanBeHad(list.filledBytes());
    error = fits ? moveOffLargePages(list, moved.delayedBytes) : ENOMEM;
  }
  if (!error)
    noteMoved(list);
  list.discard();
  return error;
}

/// pre: no thread changes the heap's pages.
static Safety leaveLargePages() {
  if (!forks.config || forks.config->sharesAtFork || !hasLargePages())
    return Safety::safe;
  RoomForFiles room;
  if (memoryMayBePinned() || !stopOtherThreads())
    return Safety::copyNeeded;
  // New pool memory would only have to leave at the next fork.
  if (forks.config->fallback)
    closePool();
  uint64_t begin = millisecondsNow();
  Moved moved;
  int error = moveAll(moved);
  discardOwnStack();
  resumeOtherThreads();
  if (error)
    return Safety::copyNeeded;
  if (moved.bytes >= littleBytes)
    reportMoved(moved, millisecondsNow() - begin);
  return Safety::safe;
}

// A copy for the child

static void reportImpossible(uint64_t bytes) {
  forks.messages->report(
      MPG_MSG_FORK, "fork: not done, with ENOMEM: there is no memory for ",
      Bytes(bytes),
      " that the child cannot share on large pages, neither normal nor "
      "of the pool; fix: more memory, posix_spawn() or vfork() instead, "
      "or MPG_FORK=share where children only call exec");
}

/// \p otherwise, unless what tells of mappings and threads is missing.
static const char *orHiddenMap(const char *otherwise) {
  return exists("/proc/self/maps") ? otherwise
                                   : "/proc/self/maps cannot be read; fix: "
                                     "mount /proc in the container, ";
}

static void reportNoRoom() {
  forks.messages->report(
      MPG_MSG_FORK, "fork: not done, with ENOMEM: ",
      orHiddenMap("there is no room for the notes and the stack that it takes "
                  "to move memory off large pages for the child; fix: more "
                  "mappings (vm.max_map_count) or addresses (ulimit -v), "),
      "posix_spawn() or vfork() instead, or MPG_FORK=share where children "
      "only call exec");
}

static void reportCopied(uint64_t bytes) {
  forks.messages->report(
      MPG_MSG_FORK, "fork: each one copies ", Bytes(bytes), " for the child: ",
      orHiddenMap("a device may use this memory, a thread does not stop, or "
                  "normal memory or mappings are short; fix: "),
      "posix_spawn() or vfork() instead");
}

static bool isOnLargePages(uintptr_t address) {
  Mapping mapping;
  return !findMapping(address, mapping) ||
         strstr(mapping.name, "/anon_hugepage") || mapping.name[0] == '/';
}

/// Memory for a copy of all that is on large pages.
static Safety reserveCopy() {
  RoomForFiles room;
  forks.list.discard();
  if (!forks.list.find(forks.config->hugeBytes)) {
    reportNoRoom();
    return Safety::impossible;
  }
  uint64_t bytes = forks.list.bytes(), present = forks.list.presentBytes();
  forks.list.discard();
  if (!bytes)
    return Safety::safe;
  size_t hugeBytes = forks.config->hugeBytes;
  bool isReserved = memoryCanBeHad(present) &&
                    !forks.copy.reserve(sourceFor(present), bytes, hugeBytes);
  isReserved |= !forks.copy.exists() &&
                !forks.copy.reserve(Source::hugetlb, bytes, hugeBytes);
  if (isReserved)
    reportCopied(present);
  else
    reportImpossible(present);
  return isReserved ? Safety::copyNeeded : Safety::impossible;
}

/// A copy on pages of the pool leaves the child with memory that a fork of its
/// own has to move: it stays in the notes.
static void moveCopyIn() {
  bool leavesPool = forks.copy.source() != Source::hugetlb;
  forks.list.moveTo(forks.copy.source());
  forks.copy.moveIn();
  if (leavesPool)
    noteMoved(forks.list);
  forks.list.discard();
}

static bool fillCopy() {
  return forks.list.find(forks.config->hugeBytes) &&
         forks.copy.make(forks.list);
}

/// The last step before the fork. False: a child would not be safe.
static bool makeCopy() {
  RoomForFiles room;
  if (!fillCopy()) {
    // More memory came than was reserved for: try again.
    forks.copy.discard();
    Safety safety = reserveCopy();
    if (safety != Safety::copyNeeded || !fillCopy()) {
      forks.copy.discard();
      return safety == Safety::safe;
    }
  }
  catchFaults(moveCopyIn);
  return true;
}

static void finishCopyInParent() {
  releaseFaults();
  forks.copy.discard();
  forks.list.discard();
}

static void finishCopyInChild() {
  if (forks.copy.exists())
    moveCopyIn(); // if no fault has done it
  releaseFaults();
}

// The handlers

/// fork() takes the lock of the list of streams after us, and its owner may be
/// waiting for a stream whose owner waits for the heap: so before the heap.
/// Recursive; in the child the C library makes it free.
static void lockStreams() {
  forks.hasStreams = &_IO_list_lock && !FutexLock::isOnlyThread();
  if (forks.hasStreams)
    _IO_list_lock();
}

static void unlockStreams() {
  if (forks.hasStreams)
    _IO_list_unlock();
}

/// Whether the fork needs no work. Then nothing is written either: each page
/// that is written to costs parent or child a copy.
static bool isPlainFork() {
  return FutexLock::isOnlyThread() && !hasLargePages() && !isInFork();
}

static void beforeFork() {
  if (!forks.config->sharesAtFork)
    noteForkForCollapse(*forks.messages);
  if (isPlainFork()) {
    if (forks.owner) // of a thread of our parent
      forks.owner = 0;
    return;
  }
  enter();
  lockStreams();
  lockHeap();
  // Called by the C library itself: a copy helps unless this stack is in it.
  if (!forks.copy.exists() && leaveLargePages() == Safety::copyNeeded &&
      !isOnLargePages(uintptr_t(__builtin_frame_address(0))))
    reserveCopy();
  if (forks.copy.exists())
    makeCopy(); // too late to say that it cannot fork
}

static void inParent() {
  if (!forks.owner)
    return;
  finishCopyInParent();
  unlockHeap();
  unlockStreams();
  leave();
}

static void inChild() {
  if (!forks.owner)
    return;
  becomeForkedChild();
  if (forks.config->fallback)
    closePool();
  forks.owner = ownerId(); // was the parent's thread
  finishCopyInChild();
  restartHeapInChild();
  leave();
}

void mpg::watchForks(const Config &config, Messages &messages) {
  forks.config = &config;
  forks.messages = &messages;
  pthread_atfork(beforeFork, inParent, inChild);
}

// The calls

namespace {

struct Call {
  pid_t (*real)();
  ForkHandlers handlers;
  pid_t child;
  int error;
};

} // namespace

/// The child has no other stack than this until its copy is in place.
static void callOnOwnStack(void *argument) {
  Call call = *static_cast<Call *>(argument);
  bool areOurs = call.handlers == ForkHandlers::none;
  if (!areOurs || makeCopy()) {
    call.child = call.real();
    call.error = errno;
  }
  if (areOurs && call.child == 0)
    finishCopyInChild();
  else if (areOurs)
    finishCopyInParent();
  *static_cast<Call *>(argument) = call;
}

/// Does what can be done before the last step. pre: enter() was called
static Safety prepare() {
  // A signal handler may fork while its thread changes the heap.
  bool mustLock = !FutexLock::isOnlyThread();
  if (mustLock)
    heapSpace.lockAll();
  Safety safety = leaveLargePages();
  if (safety == Safety::copyNeeded && !ownStackTop()) {
    reportNoRoom();
    safety = Safety::impossible;
  } else if (safety == Safety::copyNeeded) {
    safety = reserveCopy();
  }
  if (mustLock)
    heapSpace.unlockAll(/*inChild=*/false);
  return safety;
}

int mpg::prepareForChild() {
  if (!forks.config || !hasLargePages() || isInFork())
    return 0;
  enter();
  Safety safety = prepare();
  forks.copy.discard();
  leave();
  return safety == Safety::safe ? 0 : ENOMEM;
}

/// False in a child of vfork(): the thread that the C library knows, which is
/// the owner of what it locks, is that of its parent, whose memory this is.
static bool ownsMemory() {
  pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  pthread_mutex_lock(&mutex);
  bool owns = uint32_t(mutex.__data.__owner) == threadId();
  pthread_mutex_unlock(&mutex);
  return owns;
}

void mpg::prepareForRoot() {
  if (forks.config && ownsMemory() && !prepareForChild() &&
      forks.config->fallback && !forks.config->sharesAtFork)
    closePool();
}

pid_t mpg::forkSafely(pid_t (*real)(), ForkHandlers handlers) {
  if (!forks.config || !hasLargePages() || isInFork())
    return real();
  enter();
  Safety safety = prepare();
  void *stack = safety == Safety::copyNeeded ? ownStackTop() : nullptr;
  Call call{real, handlers, -1, ENOMEM};
  if (stack)
    mpg_call_on_stack(stack, callOnOwnStack, &call);
  if (call.child < 0 && safety != Safety::safe)
    forks.errorNumber = call.error;
  leave();
  return safety == Safety::safe ? real() : call.child;
}
