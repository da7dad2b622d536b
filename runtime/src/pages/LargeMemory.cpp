// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of fixed size: nothing may be allocated in a new thread's first
// steps. A stack of a finished thread comes back to the same place, so it
// rarely grows beyond the number of threads. If it does, the last entry
// covers all that comes, and what hugetlb memory of the program lies between.

#include "pages/LargeMemory.h"
#include "base/ProcessLock.h"

using namespace mpg;

namespace {

struct Entry {
  Range range;
  size_t hugePageBytes = 0;
};

struct Noted {
  static constexpr size_t max = 1024;
  ProcessLock lock;
  size_t count = 0;
  alignas(64) Entry entries[max];
};

} // namespace

/// Without a constructor: it would run after our start-up and undo it.
static Noted noted;

void mpg::noteLargeMemory(Range range, size_t hugePageBytes) {
  if (range.empty())
    return;
  Locked hold(noted.lock);
  bool isFull = noted.count == Noted::max;
  for (size_t i = 0; i < noted.count; ++i) {
    Range &old = noted.entries[i].range;
    if (!old.overlaps(range) && !(isFull && i == noted.count - 1))
      continue;
    old.start = old.start < range.start ? old.start : range.start;
    old.end = old.end > range.end ? old.end : range.end;
    return;
  }
  noted.entries[noted.count++] = {range, hugePageBytes};
}

bool mpg::hasLargeMemory() { return noted.count; }

void mpg::forgetLargeMemory() {
  // The owner of the lock may be stopped: then the table is read again.
  if (!noted.lock.tryLock())
    return;
  noted.count = 0;
  noted.lock.unlock();
}

Range mpg::notedPart(Range mapping, size_t &hugePageBytes) {
  Range first;
  for (size_t i = 0; i < noted.count; ++i) {
    Range part = common(noted.entries[i].range, mapping);
    if (part.empty() || (!first.empty() && part.start > first.start))
      continue;
    first = part;
    hugePageBytes = noted.entries[i].hugePageBytes;
  }
  return first;
}

static bool isChild, isClosed;

bool mpg::isForkedChild() { return isChild; }
void mpg::becomeForkedChild() { isChild = true; }

bool mpg::poolIsOpen() { return !__atomic_load_n(&isClosed, __ATOMIC_RELAXED); }
void mpg::closePool() { __atomic_store_n(&isClosed, true, __ATOMIC_RELAXED); }

namespace {

struct StackWatch {
  Range processStack;
  size_t hugePageBytes = 0;
  Messages *messages = nullptr;
};

} // namespace

static StackWatch watch;

void mpg::setThreadStack(Range large) {
  noteLargeMemory(large, watch.hugePageBytes);
}

void mpg::stacksHaveLeft(ThpBytes thpBytes, const void *context) {
  Range stack = watch.processStack;
  if (!stack.empty())
    watch.messages->region(MPG_REGION_STACK, stack, thpBytes(context, stack),
                           watch.hugePageBytes, movedByForkReason);
  watch.processStack = Range{};
}

void mpg::noteLargeStack(Range processStack, size_t hugePageBytes,
                         Messages &messages) {
  watch = {processStack, hugePageBytes, &messages};
  noteLargeMemory(processStack, hugePageBytes);
}
