// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One word of shared memory, which every child inherits.

#include "ForkFamily.h"

#include "Pages.h"
#include "Syscall.h"

#include <sys/mman.h>

using namespace mpg;

static uint64_t *family = nullptr; ///< sum of all promises
static uint64_t own = 0;

void mpg::foundFamily() {
  if (family)
    return;
  long at = rawCall(SYS_mmap, 0, long(basePageBytes()), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (!isError(at))
    __atomic_store_n(&family, reinterpret_cast<uint64_t *>(at),
                     __ATOMIC_RELEASE);
}

void mpg::promiseInFamily(uint64_t bytes) {
  if (!family)
    return;
  __atomic_add_fetch(family, bytes - own, __ATOMIC_RELAXED);
  own = bytes;
}

uint64_t mpg::ownPromise() { return own; }

uint64_t mpg::promisedInFamily() {
  uint64_t *word = __atomic_load_n(&family, __ATOMIC_ACQUIRE);
  return word ? __atomic_load_n(word, __ATOMIC_RELAXED) : 0;
}

void mpg::beginAsChild() { own = 0; }
