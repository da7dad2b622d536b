// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process stack on large pages follows RLIMIT_STACK. The kernel reads the
// limit whenever its own stack grows, and a program may change it at any time.
// A change by another process or by a raw system call is not seen.
//
// It also follows a library that comes by dlopen() and puts code on the stack
// (internal procedures of Fortran and nested functions of GNU C, passed as
// arguments). The C library makes the mapping of the first frames executable,
// and knows no other. Not seen: a library named without a folder, or needed by
// another one.

#include "base/ProcessLock.h"
#include "base/Syscall.h"
#include "pages/Pages.h"
#include "pages/Shortage.h"
#include "stack/Stack.h"

#include <atomic>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

using namespace mpg;

/// Whether the file at \p path is a library that asks for an executable stack.
static bool putsCodeOnStack(const char *path) {
  long file = rawCall(SYS_openat, AT_FDCWD, long(path), O_RDONLY | O_CLOEXEC);
  if (isError(file))
    return false;
  ElfW(Ehdr) elf = {};
  ElfW(Phdr) headers[64];
  long size = rawCall(SYS_pread64, file, long(&elf), sizeof elf, 0);
  bool isElf = size == sizeof elf && !memcmp(elf.e_ident, ELFMAG, SELFMAG);
  size = isElf ? rawCall(SYS_pread64, file, long(headers), sizeof headers,
                         long(elf.e_phoff))
               : 0;
  rawCall(SYS_close, file);
  long count = size / long(sizeof *headers);
  if (count > elf.e_phnum)
    count = elf.e_phnum;
  if (count <= 0)
    return false;
  for (long i = 0; i < count; ++i)
    if (headers[i].p_type == PT_GNU_STACK)
      return headers[i].p_flags & PF_X;
  return true; // what the C library takes for granted without the header
}

namespace {

struct Watched {
  ProcessLock lock;
  PlacedStack stack;
  uintptr_t openStart = 0; ///< from here to lowerEnd() nothing can be touched
  std::atomic<int> rights{PROT_READ | PROT_WRITE}; ///< above that
  long process = 0;
};

} // namespace

static Watched watched;

/// The calling thread's stack in use, and some more.
static uintptr_t callFramesEnd() {
  constexpr size_t callFramesBytes = 64 << 10;
  return uintptr_t(__builtin_frame_address(0)) - callFramesBytes;
}

/// The lower end of what is there from the start. Normal pages may grow below.
static uintptr_t lowerEnd() {
  const PlacedStack &stack = watched.stack;
  if (stack.grownTo)
    return stack.grownTo;
  return stack.large.start - (stack.grows ? growingStartBytes : 0);
}

/// Whether the stack belongs to the calling thread. A child has its own limits;
/// after vfork() it runs on the memory of its parent.
static bool ownsStack() {
  auto here = uintptr_t(__builtin_frame_address(0));
  return here > lowerEnd() && here < watched.stack.end &&
         rawCall(SYS_getpid) == watched.process;
}

/// The lower end of the stack under the limit of the moment; 0: none.
static uintptr_t lowestAddress() {
  const PlacedStack &stack = watched.stack;
  // The kernel counts from the end of the mapping that grows.
  bool isApart = stack.grownTo && !stack.large.empty();
  uintptr_t end = isApart ? stack.large.end : stack.end;
  uint64_t limit = stackLimitBytes();
  return limit >= end ? 0 : roundUp(end - limit, basePageBytes());
}

void mpg::watchStackLimit(const PlacedStack &stack) {
  watched.stack = stack;
  watched.openStart = lowerEnd();
  watched.process = rawCall(SYS_getpid);
}

// In the first frame of the process. Weak, because a static program that never
// asks the C library about its stack has none.
extern "C" void *__libc_stack_end __attribute__((weak));

// The C library takes the end of the mapping below the first frames' for the
// lower end of the stack, and of a whole stack it takes the limit from the end
// of the mapping, which is above that of the stack.
Range mpg::findWholeStack(Range reported) {
  const PlacedStack &stack = watched.stack;
  // Its answer ends with that frame's page, and is empty for some limits.
  Range page{reported.end - basePageBytes(), reported.end};
  if (stack.large.empty() || !page.contains(uintptr_t(__libc_stack_end)))
    return reported;
  reported.start = watched.openStart;
  uintptr_t lowest = lowestAddress();
  if (stack.grows && reported.start == lowerEnd() && lowest &&
      lowest < reported.start)
    reported.start = lowest;
  if (!stack.isWhole && stack.end == stack.large.end)
    reported.end = stack.end;
  return reported;
}

/// The same rights for the mapping that grows downwards from \p top on.
static void setRightsBelow(uintptr_t top) {
  protectMemory({top - basePageBytes(), top}, watched.rights | PROT_GROWSDOWN);
}

/// Normal pages below \p top that grow.
static bool growBelow(uintptr_t top) {
  if (!mapGrowingBelow(top))
    return false;
  setRightsBelow(top);
  return true;
}

/// Normal pages below that grow, in the place of the gap.
static void letGrow() {
  PlacedStack &stack = watched.stack;
  uintptr_t gap = stack.large.start - guardGapBytes();
  releasePlace({gap, stack.large.start - growingStartBytes});
  stack.grows = growBelow(stack.large.start);
}

/// Returns whole pages of the large part that this thread, the stack's owner,
/// has not reached, and normal ones above it.
static void shrink() {
  PlacedStack &stack = watched.stack;
  uintptr_t start = roundDown(callFramesEnd(), stack.hugePageBytes);
  bool isInFirstPart = start >= stack.large.end;
  if (isInFirstPart)
    start = roundDown(callFramesEnd(), basePageBytes());
  if (start < watched.openStart)
    start = watched.openStart;
  // The memory below replaces the last of them.
  if (start <= stack.large.start || !ownsStack())
    return;
  size_t below = stack.grows ? growingStartBytes : guardGapBytes();
  uintptr_t lower = stack.grownTo ? stack.grownTo : stack.large.start - below;
  releasePlace({lower, start});
  stack.large.start = start;
  if (stack.grownTo)
    stack.grownTo = start;
  // The kernel's own stack grows again where nothing is below it.
  stack.grows = stack.grownTo || isInFirstPart || growBelow(start);
  watched.openStart = lowerEnd();
}

static void openFrom(uintptr_t start) {
  bool opens = start < watched.openStart;
  Range change =
      opens ? Range{start, watched.openStart} : Range{watched.openStart, start};
  if (change.empty())
    return;
  int rights = opens ? stackRights() : PROT_NONE;
  if (protectMemory(change, rights))
    return;
  watched.openStart = start;
  // What an access beyond the closed part has made that grow by.
  if (opens && watched.stack.grows)
    setRightsBelow(lowerEnd());
}

void mpg::applyStackLimit() {
  const PlacedStack &stack = watched.stack;
  if (stack.large.empty())
    return;
  Locked hold(watched.lock);
  uintptr_t lowest = lowestAddress();
  if (lowest < stack.large.start && !stack.grows)
    letGrow();
  // What this thread uses stays open, and what another one may use.
  uintptr_t highest = ownsStack() ? callFramesEnd() : watched.openStart;
  if (highest > stack.large.end)
    highest = stack.large.end;
  size_t unit = stack.grownTo ? basePageBytes() : stack.hugePageBytes;
  uintptr_t start = roundDown(lowest < highest ? lowest : highest, unit);
  openFrom(start > lowerEnd() ? start : lowerEnd());
}

void mpg::applyMemoryLimit() {
  if (watched.stack.large.empty())
    return;
  Locked hold(watched.lock);
  uint64_t left = readMemoryLimit().leftBytes;
  if (watched.stack.large.bytes() > left / stackShareOfLimit)
    shrink();
}

void mpg::releaseThpStack() {
  Locked hold(watched.lock);
  if (watched.stack.grownTo)
    shrink();
}

void mpg::allowCodeOnStacks() { watched.rights |= PROT_EXEC; }

int mpg::stackRights() { return watched.rights; }

// A stack moved as a whole does not grow, so the C library cannot make it
// executable: dlopen() fails and says so.
void mpg::allowCodeOnStack(const char *library) {
  Locked hold(watched.lock);
  const PlacedStack &stack = watched.stack;
  if (stack.isWhole || (watched.rights & PROT_EXEC) ||
      !putsCodeOnStack(library))
    return;
  allowCodeOnStacks();
  if (stack.large.empty())
    return;
  if (stack.grownTo) {
    setRightsBelow(stack.large.end);
    return;
  }
  protectMemory(common({watched.openStart, stack.large.end}, stack.large),
                watched.rights);
  if (stack.grows && watched.openStart < stack.large.start)
    setRightsBelow(stack.large.start);
}

Range mpg::getThpStack() {
  Locked hold(watched.lock);
  const PlacedStack &stack = watched.stack;
  return stack.grownTo ? Range{stack.grownTo, stack.end} : Range{};
}
