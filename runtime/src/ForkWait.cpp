// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Until a child has put its copy in place it shares every page. If parent and
// child write to the same page meanwhile, each takes a new one, and what was
// enough for one of them, and perhaps promised to an older child, is not. So
// the parent waits, for the time of a few system calls of the child.

#include "ForkWait.h"

#include "Pages.h"
#include "Syscall.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <time.h>

using namespace mpg;

static uint32_t *word = nullptr; ///< shared; 1 when the child is done

static void closeForkWait() {
  if (word)
    rawCall(SYS_munmap, long(word), long(basePageBytes()));
  word = nullptr;
}

void mpg::openForkWait() {
  long at = rawCall(SYS_mmap, 0, long(basePageBytes()), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  word = isError(at) ? nullptr : reinterpret_cast<uint32_t *>(at);
}

void mpg::tellParent() {
  if (!word)
    return;
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  rawCall(SYS_futex, long(word), FUTEX_WAKE, 1);
  closeForkWait();
}

void mpg::awaitChild() {
  constexpr unsigned turns = 10;
  timespec turn = {0, 50 * 1000 * 1000};
  for (unsigned i = 0;
       word && i < turns && !__atomic_load_n(word, __ATOMIC_ACQUIRE); ++i)
    rawCall(SYS_futex, long(word), FUTEX_WAIT, 0, long(&turn));
  closeForkWait();
}
