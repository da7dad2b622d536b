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
  /// While a relative lives the next walk waits until then, and after it twice
  /// as long.
  std::atomic<uint64_t> sharedNs{0}, sharedPauseNs{0};
  std::atomic<bool> hasShared{false}; ///< frames were left out for a relative
};

/// Memory beside the heap. Without a lock, because a signal's handler may fork.
struct Place {
  static constexpr uintptr_t isBeingWritten = 1;
  std::atomic<uintptr_t> start{0}, end{0}; ///< end 0: free
  std::atomic<bool> isReported{false};     ///< that a fork splits it

  Range range() const;
  bool replace(Range old, Range range);
};

} // namespace

static Walk walk;
/// Thread stacks come and go: a place whose memory is gone is used again.
static Place places[128];
/// A page that is written once, before the first fork: as long as any other
/// process has it, a parent or child lives that has not called exec. 0: none.
static std::atomic<uintptr_t> witness{0};

static constexpr uint64_t millisecond = 1000000;
/// Of the time, for the thread that does it: soon after a fork, when the next
/// may come and undo it, and later.
static constexpr uint64_t earlyShare = 16, share = 4;
static constexpr uint64_t earlyNs = 100 * millisecond;
/// Many children end before, or call exec.
static constexpr uint64_t firstPauseNs = 10 * millisecond;
static constexpr uint64_t longestPauseNs = 100 * millisecond;
/// Between walks while a relative lives.
static constexpr uint64_t firstSharedNs = 1000 * millisecond;
static constexpr uint64_t longestSharedNs = 64 * firstSharedNs;

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

/// Empty while it is written.
Range Place::range() const {
  uintptr_t last = end.load(std::memory_order_acquire);
  uintptr_t first = start.load(std::memory_order_acquire);
  bool isWhole = last == end.load(std::memory_order_relaxed);
  return isWhole && last != isBeingWritten ? Range{first, last} : Range{};
}

/// False if another thread is faster.
bool Place::replace(Range old, Range range) {
  uintptr_t last = old.end;
  if (!end.compare_exchange_strong(last, isBeingWritten))
    return false;
  start.store(range.start);
  isReported.store(false);
  end.store(range.end);
  return true;
}

/// Puts \p range where \p mayReplace(old) holds. False if that is nowhere.
template <typename MayReplace>
static bool storePlace(Range range, MayReplace mayReplace) {
  for (Place &place : places) {
    Range old = place.range();
    if (mayReplace(old) && place.replace(old, range))
      return true;
  }
  return false;
}

void mpg::watchForCollapse(Range range) {
  if (innerHugeFrames(range, hugeFrameBytes).empty())
    return;
  auto isSame = [&](Range old) { return old.overlaps(range); };
  auto isFree = [](Range old) { return old.end == 0; };
  auto isGone = [](Range old) {
    uintptr_t first = innerHugeFrames(old, hugeFrameBytes).start;
    return !isMapped({first, first + hugeFrameBytes});
  };
  storePlace(range, isSame) || storePlace(range, isFree) ||
      storePlace(range, isGone);
}

/// The first frame from \p start on that may be split; empty if there is none.
static Range nextFrame(uintptr_t start) {
  Range next = heapSpace.nextThpFrame(start);
  for (const Place &place : places) {
    Range frames = innerHugeFrames(place.range(), hugeFrameBytes);
    uintptr_t at = frames.start > start ? frames.start : start;
    if (at < frames.end && (next.empty() || at < next.start))
      next = {at, at + hugeFrameBytes};
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

/// Returns whether anything is watched.
static bool reportPlaces(Messages &messages) {
  bool isAny = false;
  for (Place &place : places) {
    Range range = place.range();
    if (range.empty())
      continue;
    isAny = true;
    // Written only once: each page that is written costs the child a copy.
    if (!place.isReported.load(std::memory_order_relaxed) &&
        !place.isReported.exchange(true, std::memory_order_relaxed))
      messages.reason(innerHugeFrames(range, hugeFrameBytes), splitReason);
  }
  return isAny;
}

void mpg::noteForkForCollapse(Messages &messages) {
  if (!thpIsCounted())
    return;
  bool isSplit = heapSpace.splitsAtFork(splitReason);
  if (!reportPlaces(messages) && !isSplit)
    return;
  makeWitness();
  uint64_t now = nowNs();
  walk.pauseNs.store(firstPauseNs, std::memory_order_relaxed);
  walk.nextNs.store(now + firstPauseNs, std::memory_order_relaxed);
  walk.calmNs.store(now, std::memory_order_relaxed);
  walk.sharedNs.store(now + firstSharedNs, std::memory_order_relaxed);
  walk.sharedPauseNs.store(firstSharedNs, std::memory_order_relaxed);
  walk.again.store(true, std::memory_order_relaxed);
  walk.hasBusy.store(false, std::memory_order_relaxed);
  walk.hasShared.store(false, std::memory_order_relaxed);
  walk.at.store(0); // before the next: see endWalk()
  isCollapseDue.store(true);
  for (ThreadCache *cache = firstCache(); cache; cache = cache->nextOfAll)
    cache->medium.inspectNextFree();
  if (threadCache != &noCache)
    threadCache->inspectEachFree();
}

/// False if it has to wait for a large page.
static bool collapseHugeFrame(Range frame) {
  Presence presence = readPresence(frame);
  // Without a relative nobody gives these up: pages that were only read are the
  // kernel's page of zeros, and pages of files may be anyone's.
  if (presence == Presence::shared &&
      !walk.hasShared.load(std::memory_order_relaxed) && hasSharer())
    walk.hasShared.store(true, std::memory_order_relaxed);
  if (presence != Presence::alone)
    return true;
  // Ignore other errors of this frame: a device may have pinned it.
  int error = collapse(frame);
  if (error == EAGAIN)
    walk.hasBusy.store(true, std::memory_order_relaxed);
  return error != ENOMEM;
}

/// Whether the walk does not begin yet because of a relative: most children
/// end soon, and until then nearly all frames are shared.
static bool waitsForRelative(uintptr_t at) {
  return !at && nowNs() < walk.sharedNs.load(std::memory_order_relaxed) &&
         hasSharer();
}

/// A walk that left frames out for a relative is repeated, later each time.
static bool repeatForShared() {
  if (!walk.hasShared.exchange(false, std::memory_order_relaxed))
    return false;
  uint64_t pause = walk.sharedPauseNs.load(std::memory_order_relaxed);
  walk.sharedNs.store(nowNs() + pause, std::memory_order_relaxed);
  if (pause < longestSharedNs)
    walk.sharedPauseNs.store(2 * pause, std::memory_order_relaxed);
  return true;
}

/// After the last frame: once more for frames that were busy. \p last is where
/// the walk was; a fork of another thread, which is not to be missed, changes
/// that.
static void endWalk(uintptr_t last) {
  bool isAgain = repeatForShared();
  isAgain |= walk.hasBusy.exchange(false, std::memory_order_relaxed) &&
             walk.again.exchange(false, std::memory_order_relaxed);
  if (isAgain)
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
    if (!waitsForRelative(start) && collapseHugeFrame(frame))
      // If no other thread forks meanwhile.
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
