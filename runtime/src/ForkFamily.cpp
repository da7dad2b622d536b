// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A page of shared memory, which every child inherits.

#include "ForkFamily.h"

#include "Pages.h"
#include "Syscall.h"

#include <errno.h>
#include <sys/mman.h>

using namespace mpg;

namespace {

struct Member {
  uint32_t process; ///< 0: free; isLeaving for a moment
  uint64_t bytes;   ///< its promise
};

constexpr uint32_t isLeaving = UINT32_MAX;

struct Family {
  static constexpr unsigned most = 250;
  Member members[most];
  /// Promises of processes for which there was no place: for good.
  uint64_t others;
};
static_assert(sizeof(Family) <= 4096, "one page");

} // namespace

static Family *family = nullptr;
static Member *self = nullptr; ///< of this process; null: none yet
static uint64_t own = 0;

void mpg::foundFamily() {
  if (family)
    return;
  long at = rawCall(SYS_mmap, 0, long(basePageBytes()), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (!isError(at))
    __atomic_store_n(&family, reinterpret_cast<Family *>(at), __ATOMIC_RELEASE);
}

/// Gives back what a process had promised that is not there any more.
static void forgetIfDead(Member &member, uint32_t process) {
  if (process == isLeaving || rawCall(SYS_kill, process, 0) != -ESRCH ||
      !__atomic_compare_exchange_n(&member.process, &process, isLeaving,
                                   /*weak=*/false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED))
    return;
  __atomic_store_n(&member.bytes, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&member.process, 0, __ATOMIC_RELEASE);
}

/// A place of this process; null: there is none.
static Member *join() {
  auto process = uint32_t(rawCall(SYS_getpid));
  for (Member &member : family->members) {
    uint32_t holder = 0;
    if (__atomic_compare_exchange_n(&member.process, &holder, process,
                                    /*weak=*/false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
      return &member;
    forgetIfDead(member, holder);
  }
  return nullptr;
}

void mpg::promiseInFamily(uint64_t bytes) {
  if (!family || bytes == own)
    return;
  if (!self)
    self = join();
  if (self)
    __atomic_store_n(&self->bytes, bytes, __ATOMIC_RELAXED);
  else
    __atomic_add_fetch(&family->others, bytes - own, __ATOMIC_RELAXED);
  own = bytes;
}

uint64_t mpg::ownPromise() { return own; }

uint64_t mpg::promisedInFamily() {
  Family *all = __atomic_load_n(&family, __ATOMIC_ACQUIRE);
  if (!all)
    return 0;
  uint64_t sum = __atomic_load_n(&all->others, __ATOMIC_RELAXED);
  for (Member &member : all->members) {
    uint32_t process = __atomic_load_n(&member.process, __ATOMIC_ACQUIRE);
    if (!process)
      continue;
    if (&member != self && __atomic_load_n(&member.bytes, __ATOMIC_RELAXED))
      forgetIfDead(member, process);
    sum += __atomic_load_n(&member.bytes, __ATOMIC_RELAXED);
  }
  return sum;
}

void mpg::beginAsChild() {
  own = 0;
  self = nullptr;
}
