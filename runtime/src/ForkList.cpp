// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments and heap say what is theirs, the kernel's list of mappings what of
// it may be written to. Other threads of the program may change rights while it
// is read.

#include "ForkList.h"

#include "HeapSpace.h"
#include "SegmentFork.h"
#include "SelfMaps.h"
#include "Syscall.h"

#include <fcntl.h>
#include <string.h>

using namespace mpg;

/// Address space for the list, of which little is touched: more stretches than
/// a process may have mappings (vm.max_map_count, 65530).
static constexpr size_t mostStretches = 65536;

//===----------------------------------------------------------------------===//
// What is there
//===----------------------------------------------------------------------===//

namespace {

/// Runs of the heap, in the order of addresses.
struct Runs {
  Range *first;
  size_t count = 0;
  bool complete = true;
};

} // namespace

static void addRun(void *to, Range run) {
  Runs &runs = *static_cast<Runs *>(to);
  if (runs.count < mostStretches)
    runs.first[runs.count++] = run;
  else
    runs.complete = false;
}

static Range common(Range a, Range b) {
  return {a.start > b.start ? a.start : b.start, a.end < b.end ? a.end : b.end};
}

/// Memory of a private hugetlb mapping that may be written to.
static bool isOpen(const Mapping &mapping) {
  static const char name[] = "/anon_hugepage";
  return mapping.readable && mapping.writable && !mapping.shared &&
         strncmp(mapping.name, name, sizeof name - 1) == 0;
}

void ForkList::add(Range range, ForkOwner owner) {
  if (range.empty())
    return;
  if (count && first[count - 1].range.end == range.start &&
      first[count - 1].owner == owner)
    first[count - 1].range.end = range.end;
  else if (count < mostStretches)
    first[count++] = {range, owner};
  else
    complete = false;
}

bool ForkList::find() {
  size_t page = basePageBytes();
  size_t listBytes = roundUp(mostStretches * sizeof(ForkStretch), page);
  size_t runBytes = roundUp(mostStretches * sizeof(Range), page);
  if (buildAway(Source::normal, listBytes + runBytes, page, nullptr, memory))
    return false;
  first = reinterpret_cast<ForkStretch *>(memory.range.start);
  Runs runs{reinterpret_cast<Range *>(memory.range.start + listBytes)};
  // What is just being mapped or unmapped by another thread is not among these.
  heapSpace.forEachHugeRun(addRun, &runs);
  complete = runs.complete;
  addOpen(runs.first, runs.first + runs.count);
  shrinkAway(memory, listBytes);
  return complete;
}

void ForkList::addOpen(const Range *run, const Range *lastRun) {
  SelfMaps maps;
  Mapping mapping;
  while (maps.next(mapping)) {
    if (!isOpen(mapping))
      continue;
    for (Range part : segmentsOnLargePages())
      add(common(part, mapping.range), ForkOwner::segments);
    while (run != lastRun && run->end <= mapping.range.start)
      ++run;
    for (const Range *at = run; at != lastRun && at->start < mapping.range.end;
         ++at)
      add(common(*at, mapping.range), ForkOwner::heap);
  }
  if (maps.opened())
    return;
  // Without /proc: all that was there once.
  for (Range part : segmentsOnLargePages())
    add(part, ForkOwner::segments);
  for (; run != lastRun; ++run)
    add(*run, ForkOwner::heap);
}

void ForkList::discard() {
  mpg::discard(memory);
  first = nullptr;
  count = 0;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

GranuleMap::GranuleMap()
    : fd(int(rawCall(SYS_openat, AT_FDCWD, long("/proc/self/pagemap"),
                     O_RDONLY | O_CLOEXEC))) {}

GranuleMap::~GranuleMap() {
  if (fd >= 0)
    rawCall(SYS_close, fd);
}

/// Bit 56 of the word of a page says so since Linux 4.2.
bool GranuleMap::isOnlyOurs(uintptr_t address) const {
  constexpr uint64_t presentAndExclusive = 1ULL << 63 | 1ULL << 56;
  uint64_t word = 0;
  long got = rawCall(SYS_pread64, fd, long(&word), sizeof word,
                     long(address / basePageBytes() * sizeof word));
  return got == sizeof word &&
         (word & presentAndExclusive) == presentAndExclusive;
}

Needs ForkList::needsOf(ForkOwner owner, size_t granuleBytes) const {
  Needs needs;
  GranuleMap granules;
  for (const ForkStretch &stretch : *this) {
    Range rest = stretch.range;
    while (stretch.owner == owner && !rest.empty()) {
      bool touched;
      uintptr_t runEnd = rest.start + touchedRun(rest, granuleBytes, touched);
      for (; rest.start < runEnd; rest.start += granuleBytes) {
        needs.presentBytes += touched ? granuleBytes : 0;
        if (touched && !granules.isOnlyOurs(rest.start))
          needs.sharedBytes += granuleBytes;
      }
    }
  }
  return needs;
}
