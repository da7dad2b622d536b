// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that use the heap at once, for the thread sanitizer, which ends the
// program with an error if two of them access the same memory without order.
// Each works on its own blocks, gives others some of them to free, and ends;
// another one replaces it. Some free and allocate after their heap has seen
// their end, while one returns memory to the system.
//
//   mpg_heap_thread_test lock0|lock1|arenas3 [rounds [seed]]
//
// At the end nothing may be in use, and all memory can be returned.

#include "HeapUnderTest.h"
#include "HeapWorkload.h"
#include "heap/HeapSlabs.h"
#include "mpg/mpg.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <vector>

using namespace mpg;

/// Blocks on their way from one thread to another.
namespace {

class Mailbox {
public:
  void push(HeapWorkload::Block block) {
    std::lock_guard<std::mutex> hold(mutex);
    blocks.push_back(block);
  }
  std::vector<HeapWorkload::Block> drain() {
    std::lock_guard<std::mutex> hold(mutex);
    return std::move(blocks);
  }

private:
  std::mutex mutex;
  std::vector<HeapWorkload::Block> blocks;
};

} // namespace

static constexpr unsigned threadCount = 4;
static Mailbox mailboxes[threadCount];
static std::atomic<unsigned> problems{0};
static std::atomic<bool> isTrimming{true};
static pthread_key_t lateKey;

/// The second time that it is called the thread is past its end for the heap.
static void useLate(void *value) {
  auto turns = uintptr_t(value);
  void *small = __wrap_malloc(100), *medium = __wrap_malloc(50000);
  memset(small, 1, 100);
  memset(medium, 1, 50000);
  __wrap_free(medium);
  if (turns == 1) // somebody else frees it
    mailboxes[0].push({static_cast<unsigned char *>(small), 0, 0});
  else
    __wrap_free(small);
  if (turns > 1)
    pthread_setspecific(lateKey, reinterpret_cast<void *>(turns - 1));
}

static void report(const HeapWorkload &work, unsigned number) {
  if (work.problem().empty())
    return;
  ++problems;
  std::printf("thread %u: %s\n", number, work.problem().c_str());
}

static void work(unsigned number, unsigned seed) {
  pthread_setspecific(lateKey, reinterpret_cast<void *>(uintptr_t(3)));
  HeapWorkload work(seed * 100 + number, {128 << 10, 6 << 20}, false);
  for (int turn = 0; turn < 20; ++turn) {
    work.run(60);
    for (int i = 0; i < 40; ++i)
      mailboxes[(number + 1 + i % (threadCount - 1)) % threadCount].push(
          work.make());
    std::vector<HeapWorkload::Block> received = mailboxes[number].drain();
    for (size_t i = 0; i < received.size(); ++i)
      if (i % 4 == 0)
        work.adopt(received[i]); // and frees it some time later
      else
        __wrap_free(received[i].start);
  }
  work.finish();
  report(work, number);
}

static void trimAgainAndAgain() {
  while (isTrimming) {
    slabFrames.releaseSpare();
    for (unsigned i = 0; i < arenaCount(); ++i)
      arenaAt(uint16_t(i)).trim(0);
    std::this_thread::yield();
  }
}

static bool chooseSettings(const char *name) {
  heapConfig.mmapThresholdBytes = 4 << 20;
  heapConfig.trimThresholdBytes = 8 << 20;
  heapConfig.arenaLockType = strcmp(name, "lock0") == 0 ? 0 : 1;
  heapConfig.maxArenaNum = strcmp(name, "arenas3") == 0 ? 3 : 1;
  return heapConfig.arenaLockType == 0 || heapConfig.maxArenaNum == 3 ||
         strcmp(name, "lock1") == 0;
}

/// Whether nothing is left when everything has been freed.
static bool isEmpty() {
  for (Mailbox &mailbox : mailboxes)
    for (HeapWorkload::Block &block : mailbox.drain())
      __wrap_free(block.start);
  struct mpg_heap_stats stats = {};
  stats.structBytes = sizeof stats;
  int error = mpg_heap_stats(&stats);
  std::printf("%u arenas, %u caches, %llu bytes in use, %llu large blocks\n",
              unsigned(stats.arenas), unsigned(stats.threadCaches),
              static_cast<unsigned long long>(stats.usedBytes),
              static_cast<unsigned long long>(stats.largeBlocks));
  return error == 0 && stats.usedBytes == 0 && stats.largeBlocks == 0 &&
         mpg_heap_check() == 0;
}

int main(int argc, char **argv) {
  unsigned rounds = argc > 2 ? unsigned(std::atoi(argv[2])) : 3;
  unsigned seed = argc > 3 ? unsigned(std::atoi(argv[3])) : 1;
  if (argc < 2 || !chooseSettings(argv[1]) || !startHeapUnderTest())
    return 2;
  pthread_key_create(&lateKey, useLate); // called after the heap's own
  std::thread trimmer(trimAgainAndAgain);
  for (unsigned round = 0; round < rounds; ++round) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < threadCount; ++i)
      threads.emplace_back(work, i, seed + round);
    for (std::thread &thread : threads)
      thread.join();
  }
  isTrimming = false;
  trimmer.join();
  if (!isEmpty()) {
    std::printf("something is left\n");
    return 1;
  }
  return problems ? 1 : 0;
}
