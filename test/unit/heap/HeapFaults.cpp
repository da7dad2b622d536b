// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heap while the kernel refuses requests: each system call for memory fails
// with some probability from some moment on, for a number of seeds. NULL with
// ENOMEM is a valid answer then; a crash, a hang, and overlapping or changed
// blocks are errors. Afterwards the kernel works again, and so must the heap.
//
//   mpg_heap_fault_test [seeds [first seed]]
//
// Each seed runs in a separate process with its own settings.

#include "HeapUnderTest.h"
#include "HeapWorkload.h"
#include "base/Syscall.h"
#include "heap/HeapSlabs.h"
#include "mpg/mpg.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mpg;

// The kernel

namespace {

struct Faults {
  std::atomic<bool> on{false};
  std::atomic<uint32_t> state{1}; ///< of the random numbers
  unsigned percent = 0;
  std::atomic<uint64_t> injected{0};
  std::atomic<uint64_t> keptBytes{0}; ///< that munmap did not take
};

} // namespace

static Faults faults;

static bool fails() {
  if (!faults.on)
    return false;
  uint32_t old = faults.state.load(), next;
  do {
    next = old;
    next ^= next << 13;
    next ^= next >> 17;
    next ^= next << 5;
  } while (!faults.state.compare_exchange_weak(old, next));
  if (next % 100 >= faults.percent)
    return false;
  ++faults.injected;
  return true;
}

/// Another thread was faster: it has memory now where the heap was about to
/// have some.
static long allocateAddresses(uintptr_t start, size_t bytes) {
  constexpr long flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  long at = syscall(SYS_mmap, start, bytes, PROT_NONE,
                    flags | MAP_FIXED_NOREPLACE, -1, 0);
  return at == -1 ? -errno : -EEXIST;
}

/// Memory of the heap that munmap leaves where it is.
static bool unmapFails(uintptr_t start, size_t bytes) {
  if (!fails())
    return false;
  if (heapSpace.range().contains(start))
    faults.keptBytes += bytes;
  return true;
}

long mpg::injectedFault(long number, long first, long second, long,
                        long fourth) {
  switch (number) {
  case SYS_mmap:
    if (!fails())
      return 0;
    return fourth & MAP_FIXED_NOREPLACE && !fails()
               ? allocateAddresses(uintptr_t(first), size_t(second))
               : -ENOMEM;
  case SYS_mremap:
  case SYS_mprotect:
  case SYS_madvise:
    return fails() ? -ENOMEM : 0;
  case SYS_munmap:
    return unmapFails(uintptr_t(first), size_t(second)) ? -ENOMEM : 0;
  case SYS_mbind:
    return fails() ? -EIO : 0;
  case SYS_futex: // not those of locks: the kernel never refuses these
    return second == FUTEX_WAKE_OP_PRIVATE && fails() ? -EFAULT : 0;
  default:
    return 0;
  }
}

/// Replaces the C library's, which the heap calls to return memory.
extern "C" int munmap(void *start, size_t bytes) noexcept {
  if (unmapFails(uintptr_t(start), bytes)) {
    errno = ENOMEM;
    return -1;
  }
  return int(syscall(SYS_munmap, start, bytes));
}

// One seed

static void chooseSettings(unsigned seed) {
  heapConfig.mode = seed % 3 == 0 ? Mode::thp : Mode::automatic;
  heapConfig.fallback = seed % 4 != 1;
  heapConfig.mmapPaging = seed % 5 == 0 ? Paging::demand : Paging::prepage;
  heapConfig.arenaLockType = seed % 2;
  heapConfig.forceCopyBack = seed % 7 == 0;
  heapConfig.mmapThresholdBytes = 4 << 20;
  heapConfig.trimThresholdBytes = seed % 3 == 1 ? 0 : 16 << 20;
  heapConfig.speaks = false;
}

static bool report(unsigned seed, const char *text) {
  std::printf("seed %u: %s\n", seed, text);
  return false;
}

/// Everything that is free, as malloc_trim does it.
static void trimAll() {
  slabFrames.releaseSpare();
  for (unsigned i = 0; i < arenaCount(); ++i)
    arenaAt(uint16_t(i)).trim(0);
}

/// A block on the only node there is for certain, under the same faults.
static void useNode(unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    __wrap_free(allocateOnNode(100000 + i * 1000, 0));
}

static bool useHeap(HeapWorkload &work, unsigned seed) {
  work.run(300);
  faults.state = seed * 2654435761u | 1;
  faults.percent = 1u << seed % 7; // 1 to 64
  faults.on = true;
  for (int turn = 0; turn < 10; ++turn) {
    work.run(150);
    useNode(5);
    if (turn % 3 == 0)
      trimAll();
  }
  faults.on = false;
  return work.problem().empty() || report(seed, work.problem().c_str());
}

/// With a thread beside this one, under the same faults, which ends.
static bool useHeapTwice(HeapWorkload &work, unsigned seed) {
  HeapWorkload other(seed + 1000000, {256 << 10, 12 << 20}, true);
  std::thread thread([&] {
    other.run(1000);
    other.finish();
  });
  bool isRight = useHeap(work, seed);
  thread.join();
  return isRight &&
         (other.problem().empty() || report(seed, other.problem().c_str()));
}

/// pre: no other thread has a cache of the heap.
static bool isEmptyAgain(unsigned seed) {
  struct mpg_heap_stats stats = {};
  stats.structBytes = sizeof stats;
  mpg_heap_stats(&stats);
  if (stats.usedBytes || stats.largeBlocks)
    return report(seed, "blocks are left");
  if (mpg_heap_check() != 0)
    return report(seed, "the tables are wrong");
  trimAll();
  if (heapSpace.mapped().all() != 0)
    return report(seed, "memory is left that could go back");
  if (readableHeapBytes() > faults.keptBytes)
    return report(seed, "memory is left that nobody knows of");
  return true;
}

static bool runSeed(unsigned seed) {
  chooseSettings(seed);
  // At every moment of the start, too: then the C library's malloc serves.
  faults.percent = seed % 11 == 0 ? 30 : 0;
  faults.state = seed + 1;
  faults.on = true;
  bool isOurs = startHeapUnderTest();
  faults.on = false;
  HeapWorkload work(seed, {256 << 10, 12 << 20}, true);
  if (!isOurs) {
    work.run(500);
    work.finish();
    return work.problem().empty() || report(seed, work.problem().c_str());
  }
  bool isRight = seed % 2 ? useHeap(work, seed) : useHeapTwice(work, seed);
  if (!isRight)
    return false;
  // As if nothing had failed.
  uint64_t failedBefore = work.failures();
  work.run(500);
  if (heapConfig.fallback && work.failures() != failedBefore)
    return report(seed, "no memory though the kernel gives it again");
  work.finish();
  return work.problem().empty() || report(seed, work.problem().c_str());
}

int main(int argc, char **argv) {
  unsigned count = argc > 1 ? unsigned(std::atoi(argv[1])) : 50;
  unsigned first = argc > 2 ? unsigned(std::atoi(argv[2])) : 1;
  unsigned wrong = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    std::fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
      alarm(60);
      bool isRight = false;
      // A thread, because one that ends keeps nothing.
      std::thread thread([&] { isRight = runSeed(seed); });
      thread.join();
      if (isRight && heapIsOurs())
        isRight = isEmptyAgain(seed);
      if (count == 1)
        std::printf("%llu faults\n",
                    static_cast<unsigned long long>(faults.injected.load()));
      std::fflush(nullptr);
      _exit(isRight ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
      return 2;
    if (WIFSIGNALED(status))
      std::printf("seed %u: signal %d\n", seed, WTERMSIG(status));
    wrong += status != 0;
  }
  std::printf("%u of %u seeds failed\n", wrong, count);
  return wrong ? 1 : 0;
}
