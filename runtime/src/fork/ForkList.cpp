// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments, heap and the table of other memory say what is theirs, the kernel's
// list of mappings what of it is still there.

#include "fork/ForkList.h"

#include "base/SelfMaps.h"
#include "heap/HeapSpace.h"
#include "pages/LargeMemory.h"
#include "segments/LargeSegments.h"

#include <string.h>
#include <sys/mman.h>

using namespace mpg;

/// Address space for the list, of which little is touched: more stretches than
/// a process may have mappings (vm.max_map_count, 65530).
static constexpr size_t mostStretches = 65536;
/// Nearly always enough, where a limit leaves few addresses.
static constexpr size_t fewStretches = 1024;

//===----------------------------------------------------------------------===//
// What is there
//===----------------------------------------------------------------------===//

namespace {

/// Runs of the heap, in the order of addresses.
struct Runs {
  Range *first;
  size_t most;
  size_t count = 0;
  bool complete = true;
};

} // namespace

static void addRun(void *to, Range run) {
  Runs &runs = *static_cast<Runs *>(to);
  if (runs.count < runs.most)
    runs.first[runs.count++] = run;
  else
    runs.complete = false;
}

/// Whether \p mapping can be private hugetlb memory of ours: anonymous, or a
/// file with a name of ours.
static bool isPrivateHuge(const Mapping &mapping) {
  static const char anonymous[] = "/anon_hugepage", file[] = "/memfd:";
  return mapping.readable && !mapping.shared &&
         (strncmp(mapping.name, anonymous, sizeof anonymous - 1) == 0 ||
          strncmp(mapping.name, file, sizeof file - 1) == 0);
}

static int rightsOf(const Mapping &mapping) {
  return PROT_READ | (mapping.writable ? PROT_WRITE : 0) |
         (mapping.executable ? PROT_EXEC : 0);
}

void ForkList::add(ForkStretch stretch) {
  if (stretch.range.empty())
    return;
  ForkStretch *last = count ? &first[count - 1] : nullptr;
  if (last && last->range.end == stretch.range.start &&
      last->owner == stretch.owner && last->rights == stretch.rights &&
      last->granuleBytes == stretch.granuleBytes)
    last->range.end = stretch.range.end;
  else if (count < most)
    first[count++] = stretch;
  else
    complete = false;
}

bool ForkList::find(size_t granuleBytes) {
  return findMost(granuleBytes, fewStretches) ||
         findMost(granuleBytes, mostStretches);
}

bool ForkList::findMost(size_t granuleBytes, size_t mostOfThem) {
  discard();
  granule = granuleBytes;
  most = mostOfThem;
  complete = true;
  size_t page = basePageBytes();
  size_t listBytes = roundUp(most * sizeof(ForkStretch), page);
  size_t runBytes = roundUp(most * sizeof(Range), page);
  if (buildAway(Source::normal, listBytes + runBytes, page, nullptr, memory))
    return false;
  first = reinterpret_cast<ForkStretch *>(memory.range.start);
  Runs runs{reinterpret_cast<Range *>(memory.range.start + listBytes), most};
  // What is just being mapped or unmapped by another thread is not among these.
  heapSpace.forEachHugeRun(addRun, &runs);
  complete = runs.complete;
  addOpen(runs.first, runs.first + runs.count);
  shrinkAway(memory, listBytes);
  return complete;
}

/// What is ours of \p mapping. \p run: the first of the heap's that may be in
/// it.
void ForkList::addMapping(const Mapping &mapping, const Range *&run,
                          const Range *lastRun) {
  int rights = rightsOf(mapping);
  for (Range part : segmentsOnLargePages())
    add({common(part, mapping.range), ForkOwner::segments, rights, granule});
  while (run != lastRun && run->end <= mapping.range.start)
    ++run;
  for (const Range *at = run; at != lastRun && at->start < mapping.range.end;
       ++at)
    add({common(*at, mapping.range), ForkOwner::heap, rights, granule});
  // Among the heap's addresses, too: they are not reserved.
  Range rest = mapping.range, part;
  size_t bytes = granule;
  for (; !(part = notedPart(rest, bytes)).empty(); rest.start = part.end)
    add({part, ForkOwner::other, rights, bytes});
}

void ForkList::addOpen(const Range *run, const Range *lastRun) {
  SelfMaps maps;
  Mapping mapping;
  while (maps.next(mapping))
    if (isPrivateHuge(mapping))
      addMapping(mapping, run, lastRun);
  if (maps.opened())
    return;
  // Without /proc: all that was there once.
  constexpr int rights = PROT_READ | PROT_WRITE;
  for (Range part : segmentsOnLargePages())
    add({part, ForkOwner::segments, rights, granule});
  for (; run != lastRun; ++run)
    add({*run, ForkOwner::heap, rights, granule});
  complete = !hasLargeMemory();
}

void ForkList::discard() {
  mpg::discard(memory);
  first = nullptr;
  count = 0;
}

uint64_t ForkList::bytes() const {
  uint64_t sum = 0;
  for (const ForkStretch &stretch : *this)
    sum += stretch.range.bytes();
  return sum;
}

uint64_t ForkList::presentBytes() const {
  uint64_t present = 0;
  for (const ForkStretch &stretch : *this)
    for (Range rest = stretch.range; !rest.empty();) {
      bool touched;
      size_t run = touchedRun(rest, stretch.granuleBytes, touched);
      present += touched ? run : 0;
      rest.start += run;
    }
  return present;
}
