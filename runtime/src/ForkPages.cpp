// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers first, because a fork should stay cheap: some small files. Then the
// pages are reserved and given back, which costs no more: the pool may have to
// grow, and a limit may be one that cannot be seen. They are made present only
// where a reservation means nothing: in processes that may not use all NUMA
// nodes, or whose cgroup's limits cannot be seen.

#include "ForkPages.h"

#include "Pages.h"
#include "SelfMaps.h"
#include "Shortage.h"

#include <string.h>

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

bool mpg::pagesCanBeHad(uint64_t bytes, size_t granuleBytes) {
  Pool pool = readPool(granuleBytes);
  uint64_t pages = bytes / granuleBytes;
  if (pool.exists && pool.available() < pages)
    return false;
  CgroupLimit limit = readCgroupLimit(granuleBytes);
  if (limit.usageLeftBytes < bytes || limit.reservationLeftBytes < bytes)
    return false;
  bool unseen = limit.usageLeftBytes == UINT64_MAX;
  bool mayFail = unseen ? reservationMayFail(granuleBytes)
                        : isBoundToFewNodes(granuleBytes);
  return bytes == 0 || pagesCome(bytes, granuleBytes, mayFail);
}

bool mpg::memoryCanBeHad(uint64_t bytes) {
  // Somebody else wants some as well.
  constexpr uint64_t reserveBytes = 64 << 20;
  static const char name[] = "MemAvailable:";
  LineReader lines("/proc/meminfo");
  while (const char *line = lines.next()) {
    if (strncmp(line, name, sizeof name - 1) != 0)
      continue;
    line += sizeof name - 1;
    while (*line == ' ')
      ++line;
    uint64_t kib;
    return !parseNumber(line, 10, kib) || kib << 10 >= bytes + reserveBytes;
  }
  return true;
}
