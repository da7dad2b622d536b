// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments, heap and the table of other memory list what libmpg put on large
// pages; the kernel's list of mappings shows which of it still exists.

#include "fork/ForkList.h"
#include "base/SelfMaps.h"
#include "base/Syscall.h"
#include "heap/HeapSpace.h"
#include "pages/LargeMemory.h"
#include "segments/Remap.h"
#include <string.h>
#include <sys/mman.h>

using namespace mpg;

/// Address space for the list, of which little is touched: more stretches than
/// a process may have mappings (vm.max_map_count, 65530).
static constexpr size_t maxStretches = 65536;
/// Used if a limit leaves few addresses; nearly always enough.
static constexpr size_t fewStretches = 1024;

// Mappings

namespace {

/// Runs of the heap, in the order of addresses.
struct Runs {
  Range *first;
  size_t max;
  size_t count = 0;
  bool complete = true;
};

} // namespace

static void addRun(void *to, Range run) {
  Runs &runs = *static_cast<Runs *>(to);
  if (runs.count < runs.max)
    runs.first[runs.count++] = run;
  else
    runs.complete = false;
}

/// Whether \p mapping can be libmpg's private hugetlb memory: anonymous, or a
/// file with one of its names.
static bool isPrivateHuge(const Mapping &mapping) {
  static const char anonymous[] = "/anon_hugepage", file[] = "/memfd:";
  return mapping.readable && !mapping.shared &&
         (strncmp(mapping.name, anonymous, sizeof anonymous - 1) == 0 ||
          strncmp(mapping.name, file, sizeof file - 1) == 0);
}

static int getRights(const Mapping &mapping) {
  return PROT_READ | (mapping.writable ? PROT_WRITE : 0) |
         (mapping.executable ? PROT_EXEC : 0);
}

void ForkList::add(ForkStretch stretch) {
  if (stretch.range.empty())
    return;
  ForkStretch *last = count ? &first[count - 1] : nullptr;
  if (last && last->range.end == stretch.range.start &&
      last->owner == stretch.owner && last->rights == stretch.rights &&
      last->hugePageBytes == stretch.hugePageBytes &&
      last->source == stretch.source)
    last->range.end = stretch.range.end;
  else if (count < max)
    first[count++] = stretch;
  else
    complete = false;
}

bool ForkList::find(size_t hugePageBytes) {
  return findUpTo(hugePageBytes, fewStretches) ||
         findUpTo(hugePageBytes, maxStretches);
}

static size_t listBytes(size_t max) {
  return roundUp(max * sizeof(ForkStretch), basePageBytes());
}

/// Memory for \p maxRuns, and \p moreBytes after it.
bool ForkList::open(size_t maxRuns, size_t moreBytes) {
  max = maxRuns;
  complete = true;
  if (buildStaged(Source::normal, listBytes(max) + moreBytes, basePageBytes(),
                  nullptr, memory))
    return false;
  first = reinterpret_cast<ForkStretch *>(memory.range.start);
  return true;
}

bool ForkList::findUpTo(size_t hugePageBytes, size_t maxRuns) {
  discard();
  hugeBytes = hugePageBytes;
  size_t runBytes = roundUp(maxRuns * sizeof(Range), basePageBytes());
  if (!open(maxRuns, runBytes))
    return false;
  uintptr_t listEnd = memory.range.start + listBytes(max);
  Runs runs{reinterpret_cast<Range *>(listEnd), max};
  // Memory that another thread is mapping or unmapping right now is not among
  // these.
  heapSpace.forEachHugeRun(addRun, &runs);
  complete = runs.complete;
  addOpen(runs.first, runs.first + runs.count);
  shrinkStaged(memory, listBytes(max));
  return complete;
}

/// Adds libmpg's parts of \p mapping. \p run: the heap's first run that may be
/// in it.
void ForkList::addMapping(const Mapping &mapping, const Range *&run,
                          const Range *lastRun) {
  int rights = getRights(mapping);
  for (Range part : segmentsOnLargePages())
    add({common(part, mapping.range), ForkOwner::segments, rights, hugeBytes});
  while (run != lastRun && run->end <= mapping.range.start)
    ++run;
  for (const Range *at = run; at != lastRun && at->start < mapping.range.end;
       ++at)
    add({common(*at, mapping.range), ForkOwner::heap, rights, hugeBytes});
  // Among the heap's addresses, too: they are not reserved.
  Range rest = mapping.range, part;
  size_t bytes = hugeBytes;
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
    add({part, ForkOwner::segments, rights, hugeBytes});
  for (; run != lastRun; ++run)
    add({*run, ForkOwner::heap, rights, hugeBytes});
  complete = !hasLargeMemory();
}

void ForkList::discard() {
  mpg::discard(memory);
  first = nullptr;
  count = 0;
}

// Contents

bool mpg::isFilled(uintptr_t at, size_t page) {
  auto *words = reinterpret_cast<const uint64_t *>(at);
  uint64_t any = 0;
  for (size_t i = 0; i < page / sizeof *words && !any; i += 8)
    for (size_t j = i; j < i + 8; ++j)
      any |= words[j];
  return any;
}

static uint64_t filledIn(Range range) {
  size_t page = basePageBytes();
  uint64_t bytes = 0;
  for (; !range.empty(); range.start += page)
    bytes += isFilled(range.start, page) ? page : 0;
  return bytes;
}

/// Calls \p visit(run, isTouched) with each run of frames. Those that are
/// not touched would take a page if they were read.
template <typename Visit>
static void forEachRun(const ForkStretch &stretch, Visit visit) {
  for (Range rest = stretch.range; !rest.empty();) {
    bool touched;
    size_t bytes = touchedRun(rest, stretch.hugePageBytes, touched);
    visit(Range{rest.start, rest.start + bytes}, touched);
    rest.start += bytes;
  }
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
    forEachRun(stretch, [&](Range run, bool isTouched) {
      present += isTouched ? run.bytes() : 0;
    });
  return present;
}

uint64_t ForkList::filledBytes() const {
  uint64_t filled = 0;
  for (const ForkStretch &stretch : *this)
    forEachRun(stretch, [&](Range run, bool isTouched) {
      filled += isTouched ? filledIn(run) : 0;
    });
  return filled;
}

// Destinations

void ForkList::moveTo(Source source) {
  for (size_t i = 0; i < count; ++i)
    first[i].source = source;
}

void ForkList::addByContents(const ForkStretch &stretch) {
  forEachRun(stretch, [&](Range run, bool isTouched) {
    ForkStretch part = stretch;
    size_t step = isTouched ? stretch.hugePageBytes : run.bytes();
    for (uintptr_t at = run.start; at < run.end; at += step) {
      part.range = {at, at + step};
      bool isDense = isTouched && filledIn(part.range) >= step / 2;
      part.source = isDense ? Source::thp : Source::normal;
      add(part);
    }
  });
}

void ForkList::moveByContents() {
  size_t frames = 0;
  for (const ForkStretch &stretch : *this)
    frames += stretch.range.bytes() / stretch.hugePageBytes;
  ForkList parts;
  parts.hugeBytes = hugeBytes;
  if (!parts.open(frames, 0))
    return;
  for (const ForkStretch &stretch : *this)
    parts.addByContents(stretch);
  discard();
  *this = parts;
}

uint64_t ForkList::thpBytes(Range region) const {
  uint64_t sum = 0;
  for (const ForkStretch &stretch : *this)
    if (stretch.source == Source::thp)
      sum += common(stretch.range, region).bytes();
  return sum;
}

// Pins. No list of devices that pin memory exists: InfiniBand, GPUs, Tofu,
// VFIO, and future ones. So all of /dev counts, except devices that every
// system has and that pin nothing. A mapping outlives its closed descriptor, so
// both are checked.

static bool startsWith(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

static bool mayPin(const char *path) {
  static const char *const harmless[] = {
      "null",    "zero",    "full", "random", "urandom",   "tty",
      "pts/",    "console", "ptmx", "shm/",   "hugepages", "mqueue/",
      "net/tun", "log",     "kmsg", "fuse"};
  if (startsWith(path, "anon_inode:[io_uring]") || startsWith(path, "/[aio]"))
    return true;
  const char *folder = "/dev/";
  if (!startsWith(path, folder))
    return false;
  for (const char *name : harmless)
    if (startsWith(path + strlen(folder), name))
      return false;
  return true;
}

static bool mayPinByDescriptor() {
  NumberedEntries descriptors("/proc/self/fd");
  uint64_t number;
  while (descriptors.next(number)) {
    char name[24], path[64];
    char *at = name + sizeof name - 1;
    *at = 0;
    do
      *--at = char('0' + number % 10);
    while (number /= 10);
    long length = rawCall(SYS_readlinkat, descriptors.descriptor(), long(at),
                          long(path), sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    if (mayPin(path))
      return true;
  }
  return !descriptors.isComplete();
}

static bool mayPinByMapping() {
  LineReader maps("/proc/self/maps");
  while (const char *line = maps.next()) {
    const char *path = strpbrk(line, "/[");
    if (const char *inode = strstr(line, "anon_inode:"))
      path = inode;
    if (path && (mayPin(path) || strstr(path, "/libibverbs.so")))
      return true;
  }
  return !maps.opened();
}

bool mpg::memoryMayBePinned() {
  return mayPinByDescriptor() || mayPinByMapping();
}
