// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transparent huge pages after a fork. The kernel splits a page that parent and
// child share when either writes to it, and khugepaged restores only eight of
// them in ten seconds. So the heap restores them itself (MADV_COLLAPSE, Linux
// 6.1), some pages at a time, in malloc's slow path, because libmpg has no
// thread. It restores only pages that are no longer shared, so that no memory
// is used twice: the child has ended, has called exec, or has written to them.
// It takes at most a quarter of a thread's time, a page at a time: 0.2 to
// 0.7 ms.

#pragma once

#include "base/Messages.h"
#include "base/Range.h"

#include <atomic>

namespace mpg {

/// Whether there may be split pages.
extern std::atomic<bool> isCollapseDue;

/// Has malloc restore transparent huge pages of \p range after a fork. It lies
/// outside of the heap; up to 128 ranges whose memory is there are kept. If the
/// program maps other memory there, its frames may become whole, too.
/// Thread-safe.
void watchForCollapse(Range range);

/// To be called before a fork.
void noteForkForCollapse(Messages &messages);

/// Makes some pages whole again, if it is time. No lock of the heap is held.
void collapseSome();

inline void collapseAfterFork() {
  if (isCollapseDue.load(std::memory_order_relaxed))
    collapseSome();
}

} // namespace mpg
