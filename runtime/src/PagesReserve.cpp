// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PagesReserve.h. hugetlb memory is built elsewhere and moved in: mmap with
// MAP_FIXED that fails for want of pages has already made a hole in the
// reservation (measured on Linux 6.18), into which another thread may map.

#include "PagesReserve.h"

#include "SelfMaps.h"
#include "Syscall.h"

#include <errno.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 // Linux 4.17
#endif

using namespace mpg;

static constexpr int reservation =
    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE; // no rights: no page either

/// A debugger would write the addresses into a core file, as zeros.
static void leaveOutOfCores(Range range) {
  rawCall(SYS_madvise, long(range.start), long(range.bytes()), MADV_DONTDUMP);
}

Range mpg::reserve(size_t bytes, size_t alignment) {
  if (bytes + alignment < bytes)
    return {};
  long at = rawCall(SYS_mmap, 0, long(bytes + alignment), PROT_NONE,
                    reservation, -1, 0);
  if (isError(at))
    return {};
  uintptr_t start = roundUp(uintptr_t(at), alignment);
  if (start > uintptr_t(at))
    rawCall(SYS_munmap, at, long(start - uintptr_t(at)));
  uintptr_t end = uintptr_t(at) + bytes + alignment;
  if (start + bytes < end)
    rawCall(SYS_munmap, long(start + bytes), long(end - start - bytes));
  leaveOutOfCores({start, start + bytes});
  return {start, start + bytes};
}

int mpg::openReserved(Range range) {
  rawCall(SYS_madvise, long(range.start), long(range.bytes()), MADV_DODUMP);
  long result = rawCall(SYS_mprotect, long(range.start), long(range.bytes()),
                        PROT_READ | PROT_WRITE);
  return isError(result) ? int(-result) : 0;
}

/// Reserves addresses at which nothing is mapped any more. Kernels before 4.17
/// take the address for a wish.
static bool reserveAgain(Range range) {
  long at = rawCall(SYS_mmap, long(range.start), long(range.bytes()), PROT_NONE,
                    reservation | MAP_FIXED_NOREPLACE, -1, 0);
  if (isError(at))
    return false;
  if (uintptr_t(at) == range.start) {
    leaveOutOfCores(range);
    return true;
  }
  rawCall(SYS_munmap, at, long(range.bytes()));
  return false;
}

/// Whether nothing but addresses is there, which are taken to be ours.
static bool isReserved(Range range) {
  Mapping mapping;
  return findMapping(range.start, mapping) && mapping.range.end >= range.end &&
         !mapping.readable && !mapping.writable && !mapping.executable;
}

static int moveIn(Range range, size_t granuleBytes, bool &lost) {
  Away away;
  int error =
      buildAway(Source::hugetlb, range.bytes(), granuleBytes, nullptr, away);
  if (error)
    return error;
  error = moveInto(away, range.start, granuleBytes, Contents::zero);
  if (error) {
    discard(away);
    lost = !unmapUnused(range);
  }
  return error;
}

/// As kernels before Linux 5.16 need it, which cannot move hugetlb mappings.
static int mapInPlace(Range range, size_t granuleBytes, bool &lost) {
  int error = mapOver(range, Source::hugetlb, granuleBytes);
  // Where the kernel had not begun, there is no hole and nothing to reserve.
  lost = error && !reserveAgain(range) && !isReserved(range);
  return error;
}

int mpg::mapReserved(Range range, size_t granuleBytes, bool &lost) {
  lost = false;
  return canMove(Source::hugetlb) ? moveIn(range, granuleBytes, lost)
                                  : mapInPlace(range, granuleBytes, lost);
}

bool mpg::unmapUnused(Range range) {
  rawCall(SYS_munmap, long(range.start), long(range.bytes()));
  return reserveAgain(range);
}

bool mpg::unmapReserved(Range range) {
  int saved = errno; // free() ends here
  munmap(reinterpret_cast<void *>(range.start), range.bytes());
  errno = saved;
  return reserveAgain(range);
}
