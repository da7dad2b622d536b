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
};

} // namespace

static Walk walk;

static constexpr uint64_t millisecond = 1000000;
/// Of the time, for the thread that does it.
static constexpr uint64_t share = 32;
/// Many children end before, or call exec.
static constexpr uint64_t firstPauseNs = 10 * millisecond;
static constexpr uint64_t longestPauseNs = 300 * millisecond;

static uint64_t readClock(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return uint64_t(now.tv_sec) * 1000 * millisecond + uint64_t(now.tv_nsec);
}
static uint64_t nowNs() { return readClock(CLOCK_MONOTONIC); }

void mpg::noteForkForCollapse() {
  if (!thpIsCounted() || !heapSpace.splitsAtFork())
    return;
  walk.at.store(0, std::memory_order_relaxed);
  walk.pauseNs.store(firstPauseNs, std::memory_order_relaxed);
  walk.nextNs.store(nowNs() + firstPauseNs, std::memory_order_relaxed);
  isCollapseDue.store(true, std::memory_order_relaxed);
  if (threadCache != &noCache)
    threadCache->lookAtEachFree();
}

/// False if it has to wait, for a child or for a large page.
static bool collapseFrame(Range frame) {
  Presence presence = presenceOf(frame);
  if (presence != Presence::alone)
    return presence != Presence::shared;
  // Ignore other errors of this frame: a device may have pinned it.
  return collapse(frame) != ENOMEM;
}

/// Longer each time.
static uint64_t nextPauseNs() {
  uint64_t pause = walk.pauseNs.load(std::memory_order_relaxed);
  if (pause < longestPauseNs)
    walk.pauseNs.store(2 * pause, std::memory_order_relaxed);
  return pause;
}

/// Runs until one frame has been made whole, which takes 0.2 ms; checking that
/// a frame is whole takes a tenth of that. Returns when to continue.
static uint64_t collapseNext() {
  constexpr unsigned framesAtOnce = 8;
  constexpr uint64_t wholeNs = 50000;
  uint64_t begin = readClock(CLOCK_THREAD_CPUTIME_ID), used = 0, pause = 0;
  for (unsigned i = 0; i < framesAtOnce && used < wholeNs && !pause; ++i) {
    Range frame = heapSpace.nextThpFrame(walk.at);
    if (frame.empty()) {
      isCollapseDue.store(false, std::memory_order_relaxed);
      return 0;
    }
    if (collapseFrame(frame))
      walk.at.store(frame.end, std::memory_order_relaxed);
    else
      pause = nextPauseNs();
    used = readClock(CLOCK_THREAD_CPUTIME_ID) - begin;
  }
  if (!pause)
    walk.pauseNs.store(firstPauseNs, std::memory_order_relaxed);
  return nowNs() + (pause > share * used ? pause : share * used);
}

void mpg::collapseSome() {
  if (isLockedIn || nowNs() < walk.nextNs.load(std::memory_order_relaxed) ||
      !walk.lock.tryLock())
    return;
  walk.nextNs.store(collapseNext(), std::memory_order_relaxed);
  walk.lock.unlock();
}
