// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assigns the caches of HeapSmall.h: a thread has its own from its first block
// on, threads past their end share one, and after a fork only some remain.

#include "base/Check.h"
#include "heap/HeapSlabs.h"
#include "heap/HeapSmall.h"

#include <new>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>

using namespace mpg;

// pthread_key_create is our own in the shared library, and looks up the next
// one.
extern "C" int __pthread_key_create(pthread_key_t *, void (*)(void *));

namespace {

struct Caches {
  FutexLock lock;
  std::atomic<ThreadCache *> all{nullptr}; ///< only ever grows, at its head
  ThreadCache *abandoned MPG_GUARDED_BY(lock) = nullptr;
  std::atomic<unsigned> count{0}, owned{0};
  pthread_key_t key = 0;
  std::atomic<bool> hasKey{false}; ///< by which the end of a thread is seen
  ThreadCache *late = nullptr;
  FutexLock lateLock;
};

} // namespace

static Caches caches;

// Constant, because malloc is called before any constructor has run.
#if defined(__clang__)
[[clang::require_constant_initialization]]
#endif
ThreadCache mpg::noCache;
__thread ThreadCache *mpg::threadCache
    __attribute__((tls_model("initial-exec"))) = &mpg::noCache;

/// The cache that a thread has, and whether it is past its end.
static __thread ThreadCache *mine __attribute__((tls_model("initial-exec")));
static __thread bool isPastEnd __attribute__((tls_model("initial-exec")));

static ThreadCache *newCache() {
  void *memory = heapSpace.metadata(sizeof(ThreadCache));
  if (!memory)
    return nullptr;
  auto *cache = new (memory) ThreadCache;
  cache->start();
  cache->nextOfAll = caches.all.load(std::memory_order_relaxed);
  caches.all.store(cache, std::memory_order_release);
  caches.count.fetch_add(1, std::memory_order_relaxed);
  return cache;
}

/// An abandoned cache, or a new one.
static ThreadCache *adopt() MPG_REQUIRES(caches.lock) {
  ThreadCache *cache = caches.abandoned;
  if (!cache)
    return newCache();
  caches.abandoned = cache->nextAbandoned;
  auto expected = ThreadCache::State::abandoned;
  while (!cache->state.compare_exchange_weak(
      expected, ThreadCache::State::owned, std::memory_order_seq_cst))
    expected = ThreadCache::State::abandoned; // borrowed: for a moment only
  return cache;
}

void ThreadCache::abandon() {
  flush();
  collect();
  medium.clear();
  releaseEmpty();
  releaseArena(arena);
  arena = nullptr;
  {
    Locked hold(caches.lock);
    state.store(State::abandoned, std::memory_order_seq_cst);
    nextAbandoned = caches.abandoned;
    caches.abandoned = this;
  }
  // Objects sent meanwhile belong to no thread now.
  tidy();
}

/// The end of a thread. Other destructors may still free, and allocate.
static void leave(void *cache) {
  threadCache = &noCache;
  mine = nullptr;
  isPastEnd = true;
  caches.owned.fetch_sub(1, std::memory_order_relaxed);
  static_cast<ThreadCache *>(cache)->abandon();
}

bool mpg::startCaches() {
  uint64_t secret = uintptr_t(&caches);
  if (auto *random = reinterpret_cast<const char *>(getauxval(AT_RANDOM)))
    memcpy(&secret, random, sizeof secret);
  // Not the kernel's number itself: the C library guards its pointers with it,
  // and a mark can be read in any free block. Odd: never that of a null
  // pointer.
  secret = (secret ^ secret >> 31) * 0x9e3779b97f4a7c15;
  heapMap.mark = (secret ^ secret >> 29) | 1;
  heapMap.edgeMark = ~heapMap.mark;
  Locked hold(caches.lock);
  caches.hasKey = __pthread_key_create(&caches.key, leave) == 0;
  caches.late = newCache();
  return caches.late;
}

bool mpg::releaseKey() {
  bool hadKey = caches.hasKey.exchange(false);
  return hadKey && pthread_key_delete(caches.key) == 0;
}

ThreadCache *mpg::ownCache() {
  // A cache would be lost if the end of its thread went unseen.
  if (mine || isPastEnd || !caches.hasKey.load(std::memory_order_relaxed))
    return mine;
  {
    Locked hold(caches.lock);
    mine = adopt();
    caches.owned.fetch_add(mine != nullptr, std::memory_order_relaxed);
  }
  // May allocate: the cache is there already.
  if (mine)
    pthread_setspecific(caches.key, mine);
  return mine;
}

/// Calls within each other: who watches memory going away may allocate.
static __thread unsigned lateDepth __attribute__((tls_model("initial-exec")));

ThreadCache *mpg::lateCache() MPG_NO_ANALYSIS {
  if (lateDepth++ == 0)
    caches.lateLock.lock();
  return caches.late;
}

void mpg::doneWithLateCache() MPG_NO_ANALYSIS {
  caches.late->flush();
  if (--lateDepth == 0)
    caches.lateLock.unlock();
}

ThreadCache *mpg::firstCache() {
  return caches.all.load(std::memory_order_acquire);
}

unsigned mpg::cacheCount() {
  return caches.count.load(std::memory_order_relaxed);
}

unsigned mpg::cachesInUse() {
  return caches.owned.load(std::memory_order_relaxed) + 1;
}

void mpg::lockCaches() MPG_NO_ANALYSIS {
  caches.lock.lock();
  // A copy of the memory is not of one moment: what others send now may come
  // without its links. No thread may put an abandoned cache in order meanwhile.
  if (mine)
    mine->collect();
  for (ThreadCache *cache = firstCache(); cache; cache = cache->nextOfAll)
    cache->holdForFork();
  caches.lateLock.lock();
  slabFrames.lock.lock();
}

void mpg::unlockCaches(bool inChild) MPG_NO_ANALYSIS {
  if (inChild) {
    slabFrames.lock.reset();
    caches.lateLock.reset();
    caches.lock.reset();
    return;
  }
  for (ThreadCache *cache = firstCache(); cache; cache = cache->nextOfAll)
    cache->releaseAfterFork();
  slabFrames.lock.unlock();
  caches.lateLock.unlock();
  caches.lock.unlock();
}

// Only in a forked child, which has one thread.
void mpg::forgetOtherThreads() MPG_NO_ANALYSIS {
  // Anew: one that a thread was putting in order is in the list and lost.
  caches.abandoned = nullptr;
  caches.owned.store(mine != nullptr, std::memory_order_relaxed);
  for (ThreadCache *cache = firstCache(); cache; cache = cache->nextOfAll) {
    if (cache->forgetThread(cache == mine || cache == caches.late)) {
      releaseArena(cache->arena);
      cache->arena = nullptr;
    } else if (cache->state.load(std::memory_order_relaxed) ==
               ThreadCache::State::abandoned) {
      cache->nextAbandoned = caches.abandoned;
      caches.abandoned = cache;
    }
  }
}
