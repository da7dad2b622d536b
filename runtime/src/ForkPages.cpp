// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fork should stay cheap. The answer of the kernel counts: the pages are
// reserved and given back. Numbers come first where that may take long, because
// the pool can grow. Pages are made present only where a reservation means
// nothing: in processes that may not use all NUMA nodes, or under limits of
// cgroups on pages in use, which may be hidden.
//
// To find out which of this holds takes dozens of files. A program that forks
// again and again pays for them once a second, as long as nothing limits it;
// that it is in another cgroup by now is seen at once.

#include "ForkPages.h"

#include "Pages.h"
#include "SelfMaps.h"
#include "Shortage.h"

#include <string.h>
#include <time.h>

using namespace mpg;

/// A limit on address space says nothing about pages that are to take the place
/// of others.
static bool addressSpaceIsShort(uint64_t bytes, size_t granuleBytes) {
  Away away;
  bool isShort =
      buildAway(Source::normal, bytes, granuleBytes, nullptr, away) != 0;
  discard(away);
  return isShort;
}

/// Tries it. \p present: until they are there, not only promised.
static bool pagesCome(uint64_t bytes, size_t granuleBytes, bool present) {
  Away away;
  if (buildAway(Source::hugetlb, bytes, granuleBytes, nullptr, away))
    return addressSpaceIsShort(bytes, granuleBytes);
  bool come = !present || populate(away.range, granuleBytes) == bytes;
  discard(away);
  return come;
}

/// Which groups the process is in; 0 if that cannot be told.
static uint64_t groupsNow() {
  char text[2048];
  long length = readSmallFile("/proc/self/cgroup", text, sizeof text);
  if (length <= 0 || size_t(length) >= sizeof text - 1)
    return 0;
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (long i = 0; i < length; ++i)
    hash = (hash ^ uint8_t(text[i])) * 0x100000001b3;
  return hash;
}

uint64_t mpg::secondsNow() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return uint64_t(now.tv_sec) + 1;
}

/// Whether it takes no more than a reservation to know: no limit is set, and
/// the pool does not grow.
static bool isPlain(size_t granuleBytes) {
  static uint64_t groups = 0, seconds = 0; // when it was last seen
  uint64_t groupsToday = groupsNow(), now = secondsNow();
  if (groups && groups == groupsToday && seconds == now)
    return true;
  Pool pool = readPool(granuleBytes);
  bool plain =
      pool.exists && pool.overcommit == 0 && !reservationMayFail(granuleBytes);
  groups = plain ? groupsToday : 0;
  seconds = now;
  return plain;
}

bool mpg::pagesCanBeHad(uint64_t bytes, size_t granuleBytes) {
  if (bytes == 0)
    return true;
  if (isPlain(granuleBytes))
    return pagesCome(bytes, granuleBytes, /*present=*/false);
  Pool pool = readPool(granuleBytes);
  if (pool.exists && pool.available() < bytes / granuleBytes)
    return false;
  CgroupLimit limit = readCgroupLimit(granuleBytes);
  if (limit.usageLeftBytes < bytes || limit.reservationLeftBytes < bytes)
    return false;
  bool unseen = limit.usageLeftBytes == UINT64_MAX;
  bool mayFail = unseen ? reservationMayFail(granuleBytes)
                        : isBoundToFewNodes(granuleBytes);
  return pagesCome(bytes, granuleBytes, mayFail);
}

bool mpg::memoryCanBeHad(uint64_t bytes) {
  // Somebody else wants some as well.
  constexpr uint64_t reserveBytes = 64 << 20;
  uint64_t available;
  return !readMemoryInfo("MemAvailable:", available) ||
         available >= bytes + reserveBytes;
}
