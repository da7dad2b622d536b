// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Address ranges for later (Pages.h). MAP_FIXED_NOREPLACE does this in one
// step: it maps all or nothing, and never over another thread's mapping.

#include "pages/Pages.h"

#include "base/SelfMaps.h"
#include "base/Syscall.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 // Linux 4.17
#endif

using namespace mpg;

static constexpr int reservation =
    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE; // without rights no page comes

Range mpg::reserve(size_t bytes, size_t alignment) {
  // Without a gap the kernel makes one mapping of several: a fork is faster.
  size_t slack = alignment > basePageBytes() ? alignment : 0;
  if (bytes + slack < bytes)
    return {};
  long at = mapMemory(0, bytes + slack, PROT_NONE, reservation);
  if (isError(at))
    return {};
  uintptr_t start = roundUp(uintptr_t(at), alignment);
  unmapMemory({uintptr_t(at), start});
  unmapMemory({start + bytes, uintptr_t(at) + bytes + slack});
  // A debugger would write the addresses into a core file, as zeros.
  adviseMemory({start, start + bytes}, MADV_DONTDUMP);
  return {start, start + bytes};
}

int mpg::openReserved(Range range) {
  adviseMemory(range, MADV_DODUMP);
  return protectMemory(range, PROT_READ | PROT_WRITE);
}

// Addresses that are only chosen

/// Maps [range) if all of it is free. Kernels before 4.17 treat the address as
/// a hint; then EEXIST as well.
static int mapNew(Range range, int protection, int flags) {
  long at = mapMemory(range.start, range.bytes(), protection,
                      flags | MAP_FIXED_NOREPLACE);
  if (isError(at))
    return int(-at);
  if (uintptr_t(at) == range.start)
    return 0;
  unmapMemory({uintptr_t(at), uintptr_t(at) + range.bytes()});
  return EEXIST;
}

/// Whether \p range is free and all of it within what a program may have.
static bool isUsable(Range range, size_t hugePageBytes) {
  if (range.start < hugePageBytes || range.end < range.start)
    return false;
  // In one step, unless a limit does not let that much be mapped for a moment.
  int error = mapNew(range, PROT_NONE, reservation);
  if (!error)
    unmapMemory(range);
  if (!error || error == EEXIST)
    return !error;
  Range ends[] = {{range.start, range.start + hugePageBytes},
                  {range.end - hugePageBytes, range.end}};
  for (Range part : ends) {
    if (mapNew(part, PROT_NONE, reservation))
      return false;
    unmapMemory(part);
  }
  SelfMaps maps; // without a map it is found out when memory comes
  Mapping mapping;
  while (maps.next(mapping))
    if (mapping.range.overlaps(range))
      return false;
  return true;
}

uint64_t mpg::addressRandom() {
  constexpr long query = 0xffffffff;
  long now = rawCall(SYS_personality, query);
  if (!isError(now) && (now & ADDR_NO_RANDOMIZE))
    return 0;
  uint64_t random = 0;
  if (auto *words = reinterpret_cast<const char *>(getauxval(AT_RANDOM)))
    memcpy(&random, words + sizeof random, sizeof random);
  random = (random ^ random >> 31) * 0x9e3779b97f4a7c15;
  return random ^ random >> 32;
}

/// Addresses of the kernel's choice; empty if it has none.
static Range mapForAMoment(size_t bytes) {
  long at = mapMemory(0, bytes, PROT_NONE, reservation);
  return isError(at) ? Range{} : Range{uintptr_t(at), uintptr_t(at) + bytes};
}

Range mpg::chooseAddresses(size_t bytes, size_t alignment) {
  // Finds where the kernel puts the next mapping, and on which side of it the
  // one after that. Both have one size: a smaller one may fit into a gap on the
  // other side.
  Range next = mapForAMoment(2 * alignment),
        after = mapForAMoment(2 * alignment);
  unmapMemory(next);
  unmapMemory(after);
  if (next.empty() || after.empty())
    return {};
  bool goesUp = after.start > next.start;
  // So far that the kernel gets there only after it has given that much to
  // others. Not farther: tools use the rest of the address space.
  constexpr uint64_t farBytes = uint64_t(1) << 40;
  uint64_t far = next.start / 8 < farBytes ? next.start / 8 : farBytes;
  const uint64_t wide = next.start / 4 < 8 * far ? next.start / 4 : 8 * far;
  for (uint64_t distance = far + (addressRandom() >> 20) % (wide + 1);;
       distance = distance / 2) {
    uintptr_t start =
        goesUp ? next.end + distance : next.start - distance - bytes;
    if (goesUp || next.start > distance + bytes) {
      start = roundDown(start, alignment);
      if (isUsable({start, start + bytes}, alignment))
        return {start, start + bytes};
    }
    if (distance < alignment)
      return {};
  }
}

int mpg::mapChosen(Range range, Source source, size_t hugePageBytes) {
  int flags = mapFlags(source, hugePageBytes);
  int error = mapNew(range, PROT_READ | PROT_WRITE, flags);
  if (!error && source == Source::thp)
    adviseHuge(range, /*collapse=*/false);
  return error;
}

int mpg::mapTable(Range range) {
  return range.empty() ? 0 : mapNew(range, PROT_READ | PROT_WRITE, reservation);
}

void mpg::unmapChosen(Range range) {
  int saved = errno; // free() ends here
  munmap(reinterpret_cast<void *>(range.start), range.bytes());
  errno = saved;
}

bool mpg::emptyChosen(Range range) {
  if (range.empty())
    return false;
  int saved = errno;
  auto *start = reinterpret_cast<void *>(range.start);
  bool isDone = madvise(start, range.bytes(), MADV_DONTNEED) == 0;
  errno = saved;
  return isDone;
}
