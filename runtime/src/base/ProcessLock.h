// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lock that a forked child finds free: it records the process of its owner,
// and a child may take it from its parent, because the owning thread does not
// exist in the child. The protected data may then be half written; the child
// starts afresh. No fork handler is needed, so it works after clone(), too.
//
// Not for the heap, which wants a lock without a system call (FutexLock.h).

#pragma once

#include "base/FutexLock.h"

namespace mpg {

class MPG_CAPABILITY ProcessLock {
public:
  bool tryLock() MPG_TRY_ACQUIRES(true) {
    auto self = uint32_t(rawCall(SYS_getpid));
    uint32_t seen = 0;
    return replace(seen, self) ||
           (isParents(seen, self) && replace(seen, self));
  }
  void lock() MPG_ACQUIRES() {
    if (tryLock())
      return;
    auto self = uint32_t(rawCall(SYS_getpid));
    for (uint32_t seen = 0; !replace(seen, self | hasWaiters);) {
      if (isParents(seen, self))
        continue;
      if (seen & hasWaiters || replace(seen, self | hasWaiters))
        rawCall(SYS_futex, long(&word), FUTEX_WAIT_PRIVATE,
                long(self | hasWaiters), 0);
      seen = 0;
    }
  }
  void unlock() MPG_RELEASES() {
    MPG_CHECK(isHeld());
    if (word.exchange(0, std::memory_order_release) & hasWaiters)
      rawCall(SYS_futex, long(&word), FUTEX_WAKE_PRIVATE, 1);
  }
  /// For checks: some thread of some process holds it.
  bool isHeld() const { return word.load(std::memory_order_relaxed) != 0; }

private:
  static constexpr uint32_t hasWaiters = 1u << 31; // no process has the bit

  static bool isParents(uint32_t seen, uint32_t self) {
    return seen && (seen & ~hasWaiters) != self;
  }
  bool replace(uint32_t &seen, uint32_t wanted) {
    return word.compare_exchange_strong(seen, wanted, std::memory_order_acquire,
                                        std::memory_order_relaxed);
  }

  std::atomic<uint32_t> word{0};
};

/// Runs something once in a process. Other threads wait meanwhile.
class Once {
public:
  template <typename Work> void run(Work work) {
    if (isDone.load(std::memory_order_acquire))
      return;
    Locked held(lock);
    if (isDone.load(std::memory_order_relaxed))
      return;
    work();
    isDone.store(true, std::memory_order_release);
  }

private:
  ProcessLock lock;
  std::atomic<bool> isDone{false};
};

} // namespace mpg
