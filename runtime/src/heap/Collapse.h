// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transparent huge pages after a fork. A page that parent and child share is
// split by the kernel when either of them writes to it, and khugepaged makes
// eight of them whole in ten seconds. So the heap does that itself
// (MADV_COLLAPSE, Linux 6.1), some pages at a time, in the slow way of malloc:
// there is no thread of ours. Only pages that nobody shares any more, so that
// no memory is used twice: the child has ended, has called exec, or has written
// to them. It takes a 32nd of the time at
// most, a page at a time: 0.2 ms.

#ifndef MPG_RUNTIME_COLLAPSE_H
#define MPG_RUNTIME_COLLAPSE_H

#include <atomic>

namespace mpg {

/// Whether there may be split pages.
extern std::atomic<bool> isCollapseDue;

/// To be called before a fork.
void noteForkForCollapse();

/// Makes some pages whole again, if it is time. No lock of the heap is held.
void collapseSome();

inline void collapseAfterFork() {
  if (isCollapseDue.load(std::memory_order_relaxed))
    collapseSome();
}

} // namespace mpg

#endif // MPG_RUNTIME_COLLAPSE_H
