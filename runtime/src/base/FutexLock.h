// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lock that needs no libc and no allocation, mainly for the heap; a forked
// child can reset it. It spins for a moment and then sleeps, because the owner
// may be waiting for the kernel to clear pages.

#pragma once

#include "base/Check.h"
#include "base/Syscall.h"
#include "base/ThreadSafety.h"

#include <atomic>
#include <linux/futex.h>

extern "C" char __libc_single_threaded __attribute__((weak));

namespace mpg {

class MPG_CAPABILITY FutexLock {
public:
  void lock() MPG_ACQUIRES() MPG_NO_ANALYSIS {
    if (!tryLock())
      lockSlowly();
  }
  bool tryLock() MPG_TRY_ACQUIRES(true) {
    uint32_t expected = isFree;
    if (isOnlyThread()) { // no other can be in here, or come meanwhile
      if (word.load(std::memory_order_relaxed) != isFree)
        return false;
      word.store(isTaken, std::memory_order_relaxed);
      return true;
    }
    return word.compare_exchange_strong(expected, isTaken,
                                        std::memory_order_acquire,
                                        std::memory_order_relaxed);
  }
  void unlock() MPG_RELEASES() {
    MPG_CHECK(isHeld());
    if (isOnlyThread())
      word.store(isFree, std::memory_order_relaxed);
    else if (word.exchange(isFree, std::memory_order_release) == hasWaiters)
      rawCall(SYS_futex, long(&word), FUTEX_WAKE_PRIVATE, 1);
  }
  /// Call in a forked child: threads that waited do not exist there.
  void reset() { word.store(isFree, std::memory_order_relaxed); }

  /// The caller holds it, because a function that clang cannot follow took it.
  void assertHeld() const MPG_ASSERTS_LOCK() { MPG_CHECK(isHeld()); }
  /// For checks: some thread holds it.
  bool isHeld() const { return word.load(std::memory_order_relaxed) != isFree; }

  /// glibc 2.32 provides the variable; older ones do not.
  static bool isOnlyThread() {
    return &__libc_single_threaded && __libc_single_threaded;
  }

private:
  enum : uint32_t { isFree, isTaken, hasWaiters };

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("yield");
#endif
  }

  void lockSlowly() MPG_ACQUIRES() MPG_NO_ANALYSIS {
    for (int spin = 0; spin < 100; ++spin) {
      pause();
      if (word.load(std::memory_order_relaxed) == isFree && tryLock())
        return;
    }
    while (word.exchange(hasWaiters, std::memory_order_acquire) != isFree)
      rawCall(SYS_futex, long(&word), FUTEX_WAIT_PRIVATE, hasWaiters, 0);
  }

  std::atomic<uint32_t> word{isFree};
};

/// Holds a lock as long as it lives.
template <typename Lock> class MPG_SCOPED_LOCK Locked {
public:
  explicit Locked(Lock &lock) MPG_ACQUIRES(lock) : held(lock) { held.lock(); }
  ~Locked() MPG_RELEASES() { held.unlock(); }
  Locked(const Locked &) = delete;
  Locked &operator=(const Locked &) = delete;

private:
  Lock &held;
};

} // namespace mpg
