// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves piece by piece: copies to new pages and moves these over the old ones,
// whose large page is then free for others. In a static program libmpg's
// variables may be in any piece, so nothing is written to them between the copy
// and the move. All of it runs on a separate stack.

#include "base/SelfMaps.h"
#include "base/StackSwitch.h"
#include "base/Syscall.h"
#include "fork/ForkList.h"
#include "pages/PagesNuma.h"
#include "segments/Remap.h"
#include <errno.h>
#include <initializer_list>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

using namespace mpg;

namespace {

/// Where free memory is in small pieces, the kernel moves memory to make a
/// large page: that takes 4 to 6 ms instead of 0.3 ms. The program waits
/// meanwhile, so that is limited, and the rest comes on normal pages;
/// Collapse.cpp makes them large later.
class Pace {
public:
  bool delays(Source source) const { return isSlow && source == Source::thp; }
  void begin() { beganNs = now(); }
  void end(size_t frames, size_t bytesDelayed) {
    constexpr uint64_t usualNs = 1000000, maxNs = 100 * usualNs;
    uint64_t used = now() - beganNs, usual = frames * usualNs;
    lateNs += used > usual ? used - usual : 0;
    isSlow = lateNs > maxNs;
    delayedBytes += bytesDelayed;
  }
  uint64_t delayedBytes = 0; ///< on normal pages for now

private:
  static uint64_t now() {
    timespec time = {};
    rawCall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, long(&time));
    return uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
  }
  uint64_t beganNs = 0, lateNs = 0;
  bool isSlow = false;
};

struct Job {
  const ForkList *list;
  Pace pace;
  int error;
};

} // namespace

/// Copies what is not zero: a large page is present to its last byte, and a
/// small program uses little of it. New memory is zero. No
/// call of the C library: its table may be in the piece.
static void copyContents(Range to, uintptr_t from, Source source) {
  size_t page = basePageBytes();
  while (!to.empty()) {
    uintptr_t end = to.start;
    while (end < to.end && isFilled(from + (end - to.start), page))
      end += page;
    Range filled{to.start, end};
    if (source == Source::normal && filled.bytes() > page)
      populate(filled, filled.bytes()); // in half the time of single faults
    if (!filled.empty())
      copyPages(filled.start, from, filled.bytes());
    from += filled.bytes() + page;
    to.start = end + page;
  }
}

/// Large memory is often on the nodes of its threads: the forking thread must
/// not become the first to touch it.
static void keepNode(Range staged, uintptr_t old) {
  int node = -1;
  if (!getNodes(&old, 1, &node) && node >= 0)
    place(staged, Placement::prefer, NodeSet::of(node));
}

static int movePiece(Range piece, const ForkStretch &stretch, bool isDelayed,
                     bool keepsNode, bool touched) {
  const size_t hugePageBytes = stretch.hugePageBytes;
  Source source = isDelayed ? Source::normal : stretch.source;
  Staged staged;
  if (int error =
          buildStaged(source, piece.bytes(), hugePageBytes, nullptr, staged))
    return error;
  if (touched && keepsNode)
    keepNode(staged.range, piece.start);
  if (touched)
    copyContents(staged.range, piece.start, source);
  int error = moveInto(staged, piece.start, hugePageBytes,
                       touched ? Contents::copied : Contents::zero);
  if (error)
    discard(staged);
  else if (isDelayed)
    adviseHuge(piece, /*collapse=*/false);
  return error;
}

static int moveStretch(const ForkStretch &stretch, Pace &pace) {
  const size_t hugeBytes = stretch.hugePageBytes;
  Range rest = stretch.range;
  bool hasNodes = allowedNodes().count() > 1;
  // So much memory exists twice for a moment.
  size_t maxBytes = hasNodes ? hugeBytes : 32 << 20;
  while (!rest.empty()) {
    bool touched;
    size_t bytes = touchedRun(rest, hugeBytes, touched);
    if (bytes > maxBytes)
      bytes = roundUp(maxBytes, hugeBytes);
    Range piece{rest.start, rest.start + bytes};
    bool isDelayed = touched && pace.delays(stretch.source);
    pace.begin();
    int error = movePiece(piece, stretch, isDelayed, hasNodes, touched);
    if (!error)
      rest.start += bytes;
    else if (maxBytes > hugeBytes)
      maxBytes = hugeBytes; // address space may be short
    else
      return error;
    pace.end(bytes / hugeBytes, isDelayed ? bytes : 0);
  }
  return 0;
}

static int moveOff(const ForkStretch &stretch, Pace &pace) {
  constexpr int readWrite = PROT_READ | PROT_WRITE;
  int error = moveStretch(stretch, pace);
  if (!error && stretch.rights != readWrite)
    protectMemory(stretch.range, stretch.rights);
  return error;
}

int mpg::moveOffLargePages(const ForkStretch &stretch) {
  Pace pace;
  return moveOff(stretch, pace);
}

static int moveAll(Job &job) {
  for (const ForkStretch &stretch : *job.list)
    if (int error = moveOff(stretch, job.pace))
      return error;
  return 0;
}

static Staged ownStack;

void *mpg::ownStackTop() {
  // For calls of other libraries' handlers, too (ForkCopy). The second size
  // where a limit leaves few addresses.
  for (size_t bytes : {size_t(1) << 20, size_t(256) << 10})
    if (ownStack.range.empty())
      buildStaged(Source::normal, bytes, basePageBytes(), nullptr, ownStack);
  if (ownStack.range.empty())
    return nullptr;
  return reinterpret_cast<void *>(ownStack.range.end);
}

/// True in a handler of pthread_atfork that forks.
static bool isOnOwnStack() {
  return ownStack.range.contains(uintptr_t(__builtin_frame_address(0)));
}

void mpg::discardOwnStack() {
  if (!isOnOwnStack())
    discard(ownStack);
}

static void moveOnOwnStack(void *argument) {
  // A copy, because the argument is on the stack that is replaced.
  Job job = *static_cast<Job *>(argument);
  job.error = moveAll(job);
  *static_cast<Job *>(argument) = job;
}

int mpg::moveOffLargePages(const ForkList &list, uint64_t &delayedBytes) {
  void *top = ownStackTop();
  if (!top)
    return ENOMEM;
  Job job{&list, Pace(), 0};
  if (isOnOwnStack())
    job.error = moveAll(job);
  else
    mpg_call_on_stack(top, moveOnOwnStack, &job);
  delayedBytes = job.pace.delayedBytes;
  return job.error;
}

// A copy for the child. One mapping holds the copies of all stretches, one
// after the other, so that a heap in thousands of pieces does not take
// thousands of mappings twice.
//
// Other threads may write while the copy is made. The child may or may not see
// these writes: it has none of these threads, and must not use what their locks
// protect. It sees all writes of the forking thread.
//
// MADV_DONTFORK stays on the memory: the program may have asked for it as well
// (ibv_reg_mr() does), and then it must not be taken back.

/// In a static program a child cannot run at all without these segments.
static bool mustBeShared(const ForkStretch &stretch) {
  return stretch.owner == ForkOwner::segments && segmentsHoldLibraries();
}

int ForkCopy::reserve(Source source, size_t bytes, size_t hugePageBytes) {
  if (int error = buildStaged(source, bytes, hugePageBytes, nullptr, memory))
    return error;
  if (source != Source::hugetlb ||
      populate(memory.range, hugePageBytes) == bytes)
    return 0;
  discard();
  return ENOMEM;
}

bool ForkCopy::make(const ForkList &from) {
  if (from.bytes() > memory.range.bytes())
    return false;
  list = &from;
  uintptr_t to = memory.range.start;
  for (const ForkStretch &stretch : from) {
    if (mustBeShared(stretch))
      continue;
    for (Range rest = stretch.range; !rest.empty();) {
      bool touched;
      size_t run = touchedRun(rest, stretch.hugePageBytes, touched);
      if (touched)
        copyPages(to, rest.start, run);
      rest.start += run;
      to += run;
    }
    adviseMemory(stretch.range, MADV_DONTFORK);
  }
  return true;
}

void ForkCopy::moveIn() {
  if (!exists() || !list)
    return;
  uintptr_t from = memory.range.start;
  for (const ForkStretch &stretch : *list) {
    if (mustBeShared(stretch))
      continue;
    size_t bytes = stretch.range.bytes();
    Staged piece{{from, from + bytes}, memory.source, -1};
    moveInto(piece, stretch.range.start, stretch.hugePageBytes);
    constexpr int readWrite = PROT_READ | PROT_WRITE;
    if (stretch.rights != readWrite)
      protectMemory(stretch.range, stretch.rights);
    from += bytes;
  }
  memory.range.start = from;
  discard(); // the rest
}

void ForkCopy::discard() {
  mpg::discard(memory);
  list = nullptr;
}

// Touches of a child before its copy is in place. In the child of a program
// with threads the C library sets the locks of open files free, and writes to
// its tables of name services. Both are blocks of the heap, and both happen
// before any handler of pthread_atfork. The child has no memory there then: so
// its first SIGSEGV is the sign to move the copy in, and the second is the
// program's own.

namespace {

struct Catch {
  void (*moveIn)() = nullptr; ///< null: nothing is caught
  long parent = 0;            ///< its process id
  struct sigaction before = {};
};

} // namespace

static Catch caught;

static void handleSignal(int, siginfo_t *info, void *) {
  long self = rawCall(SYS_getpid);
  void (*moveIn)() = caught.moveIn;
  // Any other signal goes to the program: a fault repeats by itself, and one
  // sent by kill() is raised again here.
  releaseFaults();
  if (info->si_code <= 0)
    rawCall(SYS_tgkill, self, threadId(), SIGSEGV);
  else if (self != caught.parent && moveIn)
    moveIn();
}

void mpg::catchFaults(void (*moveIn)()) {
  struct sigaction action = {};
  action.sa_sigaction = handleSignal;
  action.sa_flags = SA_SIGINFO;
  sigfillset(&action.sa_mask);
  caught.moveIn = moveIn;
  caught.parent = rawCall(SYS_getpid);
  if (sigaction(SIGSEGV, &action, &caught.before)) {
    caught.moveIn = nullptr;
    return;
  }
  uint64_t faultsOnly = uint64_t(1) << (SIGSEGV - 1);
  rawCall(SYS_rt_sigprocmask, SIG_UNBLOCK, long(&faultsOnly), 0,
          sizeof faultsOnly);
}

void mpg::releaseFaults() {
  if (caught.moveIn)
    sigaction(SIGSEGV, &caught.before, nullptr);
  caught.moveIn = nullptr;
}
