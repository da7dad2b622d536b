// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C library's functions that report on malloc or tune it, for this heap:
// mallinfo, malloc_stats, malloc_info, mallopt, malloc_trim, with the same
// terms. `fast` are small blocks that are free in slabs. Small blocks are in
// arena 0, whichever thread allocated them. Use is exact, in usable bytes. So
// that arena = uordblks + fordblks holds as there, mallinfo counts gaps between
// blocks as free.

#include "base/CLibrary.h"
#include "base/Messages.h"
#include "heap/Heap.h"
#include "heap/HeapChecks.h"
#include "heap/HeapLarge.h"
#include "heap/HeapSlabs.h"
#include "heap/HeapWalk.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>

using namespace mpg;

#ifdef MPG_STATIC
extern "C" {
struct mallinfo __real_mallinfo();
struct mallinfo2 __real_mallinfo2();
void __real_malloc_stats();
int __real_malloc_info(int, FILE *);
int __real_mallopt(int, int);
int __real_malloc_trim(size_t);
}
#endif

// mallinfo

/// \p Info: struct mallinfo, whose numbers wrap at 32 bits, or mallinfo2.
template <typename Info> static Info readInfo() {
  using Number = decltype(Info::arena);
  HeapUse use = readHeapUse();
  Info info = {};
  info.arena = Number(use.arenas.mappedBytes);
  info.ordblks = Number(use.arenas.freeRuns.blocks);
  info.smblks = Number(use.arenas.freeSmall.blocks);
  info.hblks = Number(use.large.blocks);
  info.hblkhd = Number(use.largeMappedBytes);
  info.fsmblks = Number(use.arenas.freeSmall.bytes);
  info.uordblks = Number(use.arenas.used.bytes);
  info.fordblks = Number(use.arenas.mappedBytes - use.arenas.used.bytes);
  info.keepcost = Number(use.arenas.trimmableBytes);
  return info;
}

MPG_EXPORT struct mallinfo2 MPG_MALLOC(mallinfo2)() {
  if (heapIsOurs())
    return readInfo<struct mallinfo2>();
  auto *next = MPG_NEXT(mallinfo2);
  return next ? next() : (struct mallinfo2){};
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // for new programs
MPG_EXPORT struct mallinfo MPG_MALLOC(mallinfo)() {
  if (heapIsOurs())
    return readInfo<struct mallinfo>();
  auto *next = MPG_NEXT(mallinfo);
  return next ? next() : (struct mallinfo){};
}
#pragma GCC diagnostic pop

// malloc_stats

/// Calls \p visit(number, use) with each arena.
template <typename Visit> static void forEachArena(Visit visit) {
  constexpr unsigned atOnce = 4; // are read in one walk: they lie on the stack
  unsigned count = arenaCount();
  for (unsigned first = 0; first < count; first += atOnce) {
    ArenaUse each[atOnce];
    readHeapUse(each, first, atOnce);
    for (unsigned i = first; i < count && i - first < atOnce; ++i)
      visit(i, each[i - first]);
  }
}

/// A row of malloc_stats: the number ends in the same column everywhere.
static void printRow(const char *name, uint64_t value) {
  constexpr unsigned width = 10;
  LineBuffer line;
  line.add(name).add(" = ");
  uint64_t min = 10;
  for (unsigned digits = 1; digits < width; ++digits, min *= 10)
    if (value < min)
      line.add(" ");
  line.addNumber(value).writeTo(2);
}

static void printBytes(const char *title, uint64_t mapped, uint64_t used) {
  LineBuffer().add(title).writeTo(2);
  printRow("system bytes    ", mapped);
  printRow("in use bytes    ", used);
}

MPG_EXPORT void MPG_MALLOC(malloc_stats)() {
  if (!heapIsOurs()) {
    if (auto *next = MPG_NEXT(malloc_stats))
      next();
    return;
  }
  // Not by stdio, which another thread may have locked.
  forEachArena([](unsigned number, const ArenaUse &use) {
    LineBuffer title;
    title.add("Arena ").addNumber(number).add(":");
    printBytes(title.text(), use.mappedBytes, use.used.bytes);
  });
  HeapUse use = readHeapUse();
  printBytes(
      "Total (incl. mmap):", use.arenas.mappedBytes + use.largeMappedBytes,
      use.arenas.used.bytes + use.large.bytes);
  LargeCounts large = largeCounts();
  printRow("max mmap regions", large.maxBlocks);
  printRow("max mmap bytes  ", large.maxBytes);
}

// malloc_info

static void writeSize(FILE *file, uint64_t from, uint64_t to,
                      BlockCount count) {
  if (count.blocks)
    fprintf(file,
            "  <size from=\"%lu\" to=\"%lu\" total=\"%lu\" count=\"%lu\"/>\n",
            from, to, count.bytes, count.blocks);
}

static void writeTotal(FILE *file, const char *type, BlockCount count) {
  fprintf(file, "<total type=\"%s\" count=\"%lu\" size=\"%lu\"/>\n", type,
          count.blocks, count.bytes);
}

static void writeSpace(FILE *file, const char *element, const char *type,
                       uint64_t bytes) {
  fprintf(file, "<%s type=\"%s\" size=\"%lu\"/>\n", element, type, bytes);
}

static void writeHeap(FILE *file, unsigned number, const ArenaUse &use) {
  fprintf(file, "<heap nr=\"%u\">\n<sizes>\n", number);
  for (unsigned i = 0; i < sizeClasses; ++i)
    writeSize(file, i ? bytesOfClass(i - 1) + 1 : 1, bytesOfClass(i),
              use.smallByClass[i]);
  for (unsigned i = 0; i < ArenaUse::doublings; ++i)
    writeSize(file, heapPageBytes << i, (heapPageBytes << (i + 1)) - 1,
              use.runsBySize[i]);
  fprintf(file, "</sizes>\n");
  writeTotal(file, "fast", use.freeSmall);
  writeTotal(file, "rest", use.freeRuns);
  writeSpace(file, "system", "current", use.mappedBytes);
  // How much one arena has had at most is written down nowhere.
  writeSpace(file, "aspace", "total", use.mappedBytes);
  writeSpace(file, "aspace", "mprotect", use.mappedBytes);
  fprintf(file, "</heap>\n");
}

MPG_EXPORT int MPG_MALLOC(malloc_info)(int options, FILE *file) {
  if (!heapIsOurs()) {
    auto *next = MPG_NEXT(malloc_info);
    return next ? next(options, file) : ENOSYS;
  }
  if (options != 0)
    return EINVAL;
  fprintf(file, "<malloc version=\"1\">\n");
  forEachArena([&](unsigned number, const ArenaUse &use) {
    writeHeap(file, number, use);
  });
  HeapUse use = readHeapUse();
  writeTotal(file, "fast", use.arenas.freeSmall);
  writeTotal(file, "rest", use.arenas.freeRuns);
  writeTotal(file, "mmap", {use.large.blocks, use.largeMappedBytes});
  writeSpace(file, "system", "current", use.mapped.all());
  writeSpace(file, "system", "max", heapSpace.peakBytes());
  writeSpace(file, "aspace", "total", use.mapped.all());
  writeSpace(file, "aspace", "mprotect", use.mapped.all());
  fprintf(file, "</malloc>\n");
  return 0;
}

// mallopt

/// Memory that is allocated or freed from now on is filled, but not in other
/// threads that already have a cache.
static void setPerturb(int value) {
  heapChecks.perturb = uint8_t(value);
  if (heapChecks.seesEveryCall())
    threadCache = &noCache;
}

static bool setOption(int option, int value) {
  constexpr uint64_t never = UINT64_MAX - 1;
  constexpr int maxFast = 80 * sizeof(size_t) / 4; // as the C library
  switch (option) {
  case M_MMAP_THRESHOLD:
    return value >= 0 && setThreshold(uint64_t(value));
  case M_TRIM_THRESHOLD: // -1 is documented as never
    return setTrimThreshold(value < 0 ? never : uint64_t(value));
  case M_TOP_PAD:
    if (value < 0)
      return false;
    arenaSettings.topPadBytes = uint64_t(value);
    return true;
  case M_MMAP_MAX:
    largeSettings.maxBlocks = value < 0 ? 0 : uint64_t(value);
    return true;
  case M_PERTURB:
    setPerturb(value);
    return true;
  case M_CHECK_ACTION:
    heapChecks.level = unsigned(value) & 7;
    return true;
  case M_MXFAST:
    return value >= 0 && value <= maxFast;
  // The other parameters have no counterpart here, or are obsolete. The C
  // library does not report unknown ones as errors either.
  default:
    return true;
  }
}

MPG_EXPORT int MPG_MALLOC(mallopt)(int option, int value) {
  if (heapIsOurs())
    return setOption(option, value);
  auto *next = MPG_NEXT(mallopt);
  return next ? next(option, value) : 0;
}

// malloc_trim

/// \p keepBytes of the first arena stay.
static bool trimPages(size_t keepBytes) {
  bool any = false;
  if (ThreadCache *cache = ownCache())
    any = cache->trimPages();
  any |= slabFrames.trimPages();
  slabFrames.releaseSpare();
  for (unsigned i = 0; i < arenaCount(); ++i) {
    Arena &arena = arenaAt(uint16_t(i));
    any |= arena.trim(i == 0 ? keepBytes : 0);
    any |= arena.trimPages(i == 0 ? keepBytes : 0);
  }
  return any;
}

static bool trimHeap(size_t keepBytes) {
  uint64_t before = heapSpace.mapped().all();
  freeUnusedPages();
  bool any = heapSpace.recycleKept();
  any |= trimPages(keepBytes);
  any |= heapSpace.returnSparse(trimPages, keepBytes);
  // Or it went back when it became free.
  return any || heapSpace.mapped().all() < before;
}

MPG_EXPORT int MPG_MALLOC(malloc_trim)(size_t keepBytes) {
  if (heapIsOurs())
    return trimHeap(keepBytes);
  auto *next = MPG_NEXT(malloc_trim);
  return next ? next(keepBytes) : 0;
}
