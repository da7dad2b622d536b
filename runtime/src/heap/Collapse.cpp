// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Collapse.h.

#include "heap/Collapse.h"

#include "base/ProcessLock.h"
#include "heap/HeapSmall.h"
#include "heap/HeapSpace.h"
#include "pages/Pages.h"

#include <errno.h>
#include <time.h>

using namespace mpg;

std::atomic<bool> mpg::isCollapseDue{false};

namespace {

/// A walk through the heap, from the last fork on.
struct Walk {
  ProcessLock lock;
  std::atomic<uintptr_t> at{0};    ///< the next frame; 0: the first
  std::atomic<uint64_t> nextNs{0}; ///< not before
  std::atomic<uint64_t> pauseNs{0};
  std::atomic<uint64_t> calmNs{0}; ///< no fork and no child in the way since
  std::atomic<bool> hasBusy{false}, again{false}; ///< once more for busy frames
};

/// Memory beside the heap. Never removed: what lies there later is looked at.
struct Watched {
  static constexpr unsigned capacity = 128;
  std::atomic<unsigned> count{0};
  std::atomic<bool> isTold{false}; ///< that a fork splits them
  std::atomic<uintptr_t> start[capacity] = {},
                         end[capacity] = {}; ///< 0: not yet
};

} // namespace

static Walk walk;
static Watched watched;
/// A page that is written once, before the first fork: as long as any other
/// process has it, a parent or child lives that has not called exec. 0: none.
static std::atomic<uintptr_t> witness{0};

static constexpr uint64_t millisecond = 1000000;
/// Of the time, for the thread that does it: soon after a fork, when the next
/// may come and undo it, and later.
static constexpr uint64_t earlyShare = 32, share = 8;
static constexpr uint64_t earlyNs = 100 * millisecond;
/// Many children end before, or call exec.
static constexpr uint64_t firstPauseNs = 10 * millisecond;
static constexpr uint64_t longestPauseNs = 100 * millisecond;

static constexpr char splitReason[] =
    "a fork: the kernel splits a transparent huge page when parent or child "
    "writes to it; malloc has it made whole again when the child is gone; fix: "
    "posix_spawn() or vfork() instead";

static uint64_t readClock(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return uint64_t(now.tv_sec) * 1000 * millisecond + uint64_t(now.tv_nsec);
}
static uint64_t nowNs() { return readClock(CLOCK_MONOTONIC); }

void mpg::watchForCollapse(Range range) {
  if (innerFrames(range, frameBytes).empty())
    return;
  unsigned count = watched.count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count && i < Watched::capacity; ++i)
    if (watched.start[i].load(std::memory_order_relaxed) == range.start)
      return watched.end[i].store(range.end, std::memory_order_relaxed);
  unsigned index = watched.count.fetch_add(1, std::memory_order_acq_rel);
  if (index >= Watched::capacity)
    return watched.count.store(Watched::capacity, std::memory_order_relaxed);
  watched.start[index].store(range.start, std::memory_order_relaxed);
  watched.end[index].store(range.end, std::memory_order_release);
}

/// Whole frames of the entry \p index; empty if there is none.
static Range watchedFrames(unsigned index) {
  if (index >= Watched::capacity ||
      index >= watched.count.load(std::memory_order_acquire))
    return {};
  uintptr_t end = watched.end[index].load(std::memory_order_acquire);
  uintptr_t start = watched.start[index].load(std::memory_order_relaxed);
  return innerFrames({start, end}, frameBytes);
}

/// The first frame from \p start on that may be split; empty if there is none.
static Range nextFrame(uintptr_t start) {
  Range next = heapSpace.nextThpFrame(start);
  for (unsigned i = 0; i < Watched::capacity; ++i) {
    Range frames = watchedFrames(i);
    uintptr_t at = frames.start > start ? frames.start : start;
    if (at < frames.end && (next.empty() || at < next.start))
      next = {at, at + frameBytes};
  }
  return next;
}

/// Makes the page before the first fork.
static void makeWitness() {
  Staged page;
  if (witness.load(std::memory_order_relaxed) ||
      buildStaged(Source::normal, basePageBytes(), basePageBytes(), nullptr,
                  page))
    return;
  *reinterpret_cast<volatile char *>(page.range.start) = 1;
  uintptr_t none = 0;
  if (!witness.compare_exchange_strong(none, page.range.start))
    discard(page); // another thread was faster
}

/// Whether a parent or child still shares memory with this process.
static bool hasSharer() {
  uintptr_t page = witness.load(std::memory_order_relaxed);
  return !page ||
         readPresence({page, page + basePageBytes()}) == Presence::shared;
}

void mpg::noteForkForCollapse(Messages &messages) {
  unsigned count = watched.count.load(std::memory_order_relaxed);
  if (!thpIsCounted() || (!heapSpace.splitsAtFork(splitReason) && !count))
    return;
  makeWitness();
  if (!watched.isTold.exchange(true, std::memory_order_relaxed))
    for (unsigned i = 0; i < count; ++i)
      messages.reason(watchedFrames(i), splitReason);
  uint64_t now = nowNs();
  walk.pauseNs.store(firstPauseNs, std::memory_order_relaxed);
  walk.nextNs.store(now + firstPauseNs, std::memory_order_relaxed);
  walk.calmNs.store(now, std::memory_order_relaxed);
  walk.again.store(true, std::memory_order_relaxed);
  walk.hasBusy.store(false, std::memory_order_relaxed);
  walk.at.store(0); // before the next: see endWalk()
  isCollapseDue.store(true);
  if (threadCache != &noCache)
    threadCache->inspectEachFree();
}

/// False if it has to wait, for a child or for a large page.
static bool collapseFrame(Range frame) {
  Presence presence = readPresence(frame);
  // Pages that were only read are the kernel's page of zeros, and pages of
  // files may be anyone's: nobody gives them up.
  if (presence == Presence::shared)
    return !hasSharer();
  if (presence != Presence::alone)
    return true;
  // Ignore other errors of this frame: a device may have pinned it.
  int error = collapse(frame);
  if (error == EAGAIN)
    walk.hasBusy.store(true, std::memory_order_relaxed);
  return error != ENOMEM;
}

/// After the last frame: once more for frames that were busy. \p last is where
/// the walk was; a fork of another thread, which is not to be missed, changes
/// that.
static void endWalk(uintptr_t last) {
  if (walk.hasBusy.exchange(false, std::memory_order_relaxed) &&
      walk.again.exchange(false, std::memory_order_relaxed))
    return walk.at.store(0);
  isCollapseDue.store(false);
  if (walk.at.load() != last)
    isCollapseDue.store(true);
}

/// Longer each time.
static uint64_t nextPauseNs() {
  uint64_t pause = walk.pauseNs.load(std::memory_order_relaxed);
  uint64_t next = 2 * pause < longestPauseNs ? 2 * pause : longestPauseNs;
  walk.pauseNs.store(next, std::memory_order_relaxed);
  return pause;
}

/// Runs until one frame has been made whole, which takes 0.2 to 0.7 ms;
/// checking that a frame is whole takes a tenth of that. Returns when to
/// continue.
static uint64_t collapseNext() {
  constexpr unsigned framesAtOnce = 8;
  constexpr uint64_t wholeNs = 50000;
  uint64_t begin = readClock(CLOCK_THREAD_CPUTIME_ID), used = 0, pause = 0;
  for (unsigned i = 0; i < framesAtOnce && used < wholeNs && !pause; ++i) {
    uintptr_t start = walk.at.load();
    Range frame = nextFrame(start);
    if (frame.empty()) {
      endWalk(start);
      break;
    }
    if (collapseFrame(frame)) // if no other thread forks meanwhile
      walk.at.compare_exchange_strong(start, frame.end);
    else
      pause = nextPauseNs();
    used = readClock(CLOCK_THREAD_CPUTIME_ID) - begin;
  }
  uint64_t now = nowNs();
  if (pause)
    walk.calmNs.store(now, std::memory_order_relaxed);
  else
    walk.pauseNs.store(firstPauseNs, std::memory_order_relaxed);
  bool isEarly = now - walk.calmNs.load(std::memory_order_relaxed) < earlyNs;
  uint64_t rest = (isEarly ? earlyShare : share) * used;
  return now + (pause > rest ? pause : rest);
}

void mpg::collapseSome() {
  if (isLockedIn || nowNs() < walk.nextNs.load(std::memory_order_relaxed) ||
      !walk.lock.tryLock())
    return;
  walk.nextNs.store(collapseNext(), std::memory_order_relaxed);
  walk.lock.unlock();
}
