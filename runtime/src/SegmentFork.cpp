// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fork() and .data and .bss (what the danger is stands in Fork.cpp):
//
//   before, in the parent   asks whether the pages can be had that the child
//                           may write to, or earlier children still. If not, a
//                           copy on normal pages is made, of what is present
//   after, in the child     moves the copy over the large pages
//   after, in the parent    waits for that, gives the copy back, and keeps its
//                           large pages
//
// A parent that owns its pages never dies for want of one: the kernel takes the
// page from the child. Nor does a child with a copy miss it.
//
// In a static program the C library's variables are among these: the child
// writes to them before it comes to our handler, and what it wrote would be
// lost under the copy. There a parent of one thread goes back to normal pages
// itself, for good; one of several threads gets the line only.
//
// Other threads may write while the copy is made. The child sees some of that,
// or not; it has none of these threads, and what their locks guard it may not
// use in any case. The forking thread's own writes are all in it.
//
// The question is asked at the fork, and nothing can be kept for the child:
// pages that others take between that and its writes are lacking then.

#include "SegmentFork.h"

#include "Fork.h"
#include "ForkPages.h"
#include "ForkShortage.h"
#include "ForkWait.h"
#include "SelfMaps.h"
#include "Syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

using namespace mpg;

namespace {

constexpr size_t maxRanges = 64;

/// Memory in the order of addresses; what touches is one.
struct Stretches {
  size_t count = 0;
  Range ranges[maxRanges];
  void add(Range range);
};

/// Pages that are present, and those of them that an earlier child shares.
struct Needs {
  uint64_t presentBytes = 0, sharedBytes = 0;
};

/// What was reported to mpgrun.
struct Region {
  mpg_region_kind kind = MPG_REGION_DATA;
  Range range;
};

struct SegmentWatch {
  size_t granuleBytes = 0;
  Messages *messages = nullptr;
  Source copySource = Source::normal;
  bool untouched = false; ///< not all of it is sure to be present
  bool holdsUs = false;   ///< our variables and the C library's: see file head
  Stretches moved;        ///< onto hugetlb pages
  size_t regionCount = 0;
  Region regions[maxRanges];
  /// Children that may still share pages: all that were forked since it was
  /// last seen that there is none.
  uint64_t sharers = 0;
  uint64_t promisedBytes = 0; ///< what they may still write to
  size_t copies = 0;          ///< for the child that is being forked
  Away away[maxRanges];
  uintptr_t target[maxRanges] = {};
};

} // namespace

static SegmentWatch watch;

void Stretches::add(Range range) {
  if (range.empty())
    return;
  if (count && ranges[count - 1].end == range.start)
    ranges[count - 1].end = range.end;
  else if (count < maxRanges)
    ranges[count++] = range;
}

static uint64_t bytesOf(const Stretches &stretches) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < stretches.count; ++i)
    bytes += stretches.ranges[i].bytes();
  return bytes;
}

//===----------------------------------------------------------------------===//
// What is there
//===----------------------------------------------------------------------===//

/// What is still as we left it. The program may have unmapped some of it, put
/// something else in its place, or protected it; that is left alone.
static void findLive(Stretches &live) {
  SelfMaps maps;
  Mapping mapping;
  if (!maps.opened())
    live = watch.moved;
  while (maps.next(mapping)) {
    if (!mapping.readable || !mapping.writable || mapping.shared ||
        strncmp(mapping.name, "/anon_hugepage", strlen("/anon_hugepage")) != 0)
      continue;
    for (size_t i = 0; i < watch.moved.count; ++i) {
      Range range = watch.moved.ranges[i];
      live.add({range.start > mapping.range.start ? range.start
                                                  : mapping.range.start,
                range.end < mapping.range.end ? range.end : mapping.range.end});
    }
  }
}

/// Whether the page at \p address is present and nobody else has it. Bit 56 of
/// its word says so since Linux 4.2.
static bool isOnlyOurs(int pagemap, uintptr_t address) {
  constexpr uint64_t presentAndExclusive = 1ULL << 63 | 1ULL << 56;
  uint64_t word = 0;
  long got = rawCall(SYS_pread64, pagemap, long(&word), sizeof word,
                     long(address / basePageBytes() * sizeof word));
  return got == sizeof word &&
         (word & presentAndExclusive) == presentAndExclusive;
}

static Needs needsOf(const Stretches &live) {
  Needs needs;
  size_t granule = watch.granuleBytes;
  long pagemap = rawCall(SYS_openat, AT_FDCWD, long("/proc/self/pagemap"),
                         O_RDONLY | O_CLOEXEC);
  for (size_t i = 0; i < live.count; ++i) {
    Range rest = live.ranges[i];
    while (!rest.empty()) {
      bool touched;
      uintptr_t runEnd = rest.start + touchedRun(rest, granule, touched);
      for (; rest.start < runEnd; rest.start += granule) {
        needs.presentBytes += touched ? granule : 0;
        if (touched && !isOnlyOurs(int(pagemap), rest.start))
          needs.sharedBytes += granule;
      }
    }
  }
  if (!isError(pagemap))
    rawCall(SYS_close, pagemap);
  return needs;
}

//===----------------------------------------------------------------------===//
// A copy for the child
//===----------------------------------------------------------------------===//

static void discardCopies() {
  while (watch.copies)
    discard(watch.away[--watch.copies]);
}

static int copyStretch(Range stretch) {
  size_t granule = watch.granuleBytes;
  Away &away = watch.away[watch.copies];
  if (int error =
          buildAway(watch.copySource, stretch.bytes(), granule, nullptr, away))
    return error;
  watch.target[watch.copies++] = stretch.start;
  for (uintptr_t at = stretch.start; at < stretch.end;) {
    bool touched;
    size_t run = touchedRun({at, stretch.end}, granule, touched);
    if (touched)
      copyPages(away.range.start + (at - stretch.start), at, run);
    at += run;
  }
  return 0;
}

/// All or nothing.
static int makeCopies(const Stretches &live, uint64_t presentBytes) {
  if (!memoryCanBeHad(presentBytes))
    return ENOMEM;
  for (size_t i = 0; i < live.count; ++i)
    if (int error = copyStretch(live.ranges[i])) {
      discardCopies();
      return error;
    }
  openForkWait();
  return 0;
}

/// Normal pages in the place of granules that nobody has touched: what the
/// parent has reserved of the pool is not reserved for its child.
static void replaceUntouched() {
  size_t granule = watch.granuleBytes;
  Stretches live;
  findLive(live);
  for (size_t i = 0; i < live.count; ++i) {
    Range rest = live.ranges[i];
    while (!rest.empty()) {
      bool touched;
      size_t run = touchedRun(rest, granule, touched);
      Away away;
      if (!touched &&
          !buildAway(watch.copySource, run, granule, nullptr, away) &&
          moveInto(away, rest.start, granule, Contents::zero))
        discard(away);
      rest.start += run;
    }
  }
}

//===----------------------------------------------------------------------===//
// Back to normal pages
//===----------------------------------------------------------------------===//

/// Piece by piece, for the memory of a copy. Our own variables may be in any of
/// them: nothing is written to them from the copy on. pre: one thread, signals
/// blocked.
static int goBack(const Stretches &live) {
  constexpr size_t mostBytes = 32 << 20;
  const size_t granule = watch.granuleBytes;
  const Source source = watch.copySource;
  for (size_t i = 0; i < live.count; ++i) {
    Range rest = live.ranges[i];
    while (!rest.empty()) {
      bool touched;
      size_t bytes = touchedRun(rest, granule, touched);
      if (touched && bytes > mostBytes)
        bytes = mostBytes > granule ? mostBytes : granule;
      Away away;
      if (int error = buildAway(source, bytes, granule, nullptr, away))
        return error;
      if (touched)
        copyPages(away.range.start, rest.start, bytes);
      if (int error = moveInto(away, rest.start, granule,
                               touched ? Contents::copied : Contents::zero)) {
        discard(away);
        return error;
      }
      rest.start += bytes;
    }
  }
  return 0;
}

static void reportBack() {
  for (size_t i = 0; i < watch.regionCount; ++i)
    watch.messages->region(watch.regions[i].kind, watch.regions[i].range, 0,
                           watch.granuleBytes,
                           "a fork found no large pages for the child");
}

//===----------------------------------------------------------------------===//
// The steps
//===----------------------------------------------------------------------===//

/// Does what can be done. \p needBytes could not be had.
static void meetShortage(const Stretches &live, uint64_t presentBytes,
                         uint64_t needBytes) {
  ForkShortage shortage(needBytes, watch.granuleBytes);
  LineBuffer line;
  bool isSafe = true;
  line.add("fork: no large pages for the child to write to .data and .bss (")
      .addBytes(presentBytes)
      .add("); cost: ");
  if (!watch.holdsUs && !makeCopies(live, presentBytes)) {
    line.add("every fork copies them to normal pages for the child");
  } else if (watch.holdsUs && threadCount() == 1 && !goBack(live)) {
    watch.moved.count = 0;
    reportBack();
    line.add("they go back to normal pages (more TLB misses)");
  } else {
    isSafe = false;
    line.add("the child may die of SIGBUS, for ")
        .add(watch.holdsUs && threadCount() > 1
                 ? "a static program with threads cannot leave its large pages"
                 : "there is no memory for a copy either");
  }
  shortage.say(line, isSafe, *watch.messages);
}

bool mpg::prepareSegments(size_t stackBytes, size_t stackGranuleBytes) {
  if (!watch.moved.count)
    return false;
  bool together = stackGranuleBytes == watch.granuleBytes;
  uint64_t besides = together ? stackBytes : 0;
  // A child does not own what it shares with its parent and with its child.
  uint64_t most = bytesOf(watch.moved) * (1 + watch.sharers);
  if (pagesCanBeHad(most + besides, watch.granuleBytes))
    return together;
  Stretches live;
  findLive(live);
  Needs needs = needsOf(live);
  watch.untouched |= needs.presentBytes < bytesOf(live);
  if (!needs.sharedBytes)
    watch.sharers = 0;
  watch.promisedBytes = needs.sharedBytes * watch.sharers;
  uint64_t exact = needs.presentBytes + watch.promisedBytes;
  if (exact < most && pagesCanBeHad(exact + besides, watch.granuleBytes))
    return together;
  meetShortage(live, needs.presentBytes, exact);
  return false;
}

uint64_t mpg::promisedToChildren(size_t granuleBytes) {
  bool isSame = watch.moved.count && granuleBytes == watch.granuleBytes;
  return isSame ? watch.promisedBytes : 0;
}

void mpg::segmentsInParent() {
  if (watch.moved.count && !watch.copies)
    ++watch.sharers;
  if (watch.copies)
    awaitChild();
  discardCopies();
}

void mpg::segmentsInChild() {
  if (!watch.moved.count)
    return;
  if (!watch.copies) {
    watch.sharers = 1; // the parent
    if (watch.untouched)
      replaceUntouched();
    return;
  }
  bool all = true;
  for (size_t i = 0; i < watch.copies; ++i)
    if (moveInto(watch.away[i], watch.target[i], watch.granuleBytes)) {
      discard(watch.away[i]);
      all = false;
    }
  watch.copies = 0;
  if (all)
    watch.moved.count = 0;
  tellParent();
}

static void addRegion(mpg_region_kind kind, Range range) {
  if (!range.empty() && watch.regionCount < maxRanges)
    watch.regions[watch.regionCount++] = {kind, range};
}

static void addRegions(const Segment &segment) {
  if (segment.isLibrary)
    return addRegion(MPG_REGION_LIBRARY, segment.range);
  addRegion(MPG_REGION_DATA, segment.data());
  addRegion(MPG_REGION_BSS, segment.bss());
}

void mpg::watchForks(const Part *parts, size_t partCount, const Config &config,
                     Messages &messages) {
  watch.granuleBytes = config.hugeBytes;
  watch.messages = &messages;
  watch.untouched = config.bssPaging == Paging::demand;
  bool thpToo = config.mode == Mode::automatic && thpIsAllowed();
  watch.copySource = thpToo ? Source::thp : Source::normal;
  auto us = uintptr_t(&watch);
  for (size_t i = 0; i < partCount; ++i) {
    const Part &part = parts[i];
    Range large{part.range.start, part.hugetlbEnd};
    if (large.empty())
      continue;
    watch.moved.add(large);
    if (i == 0 || parts[i - 1].segment != part.segment)
      addRegions(*part.segment);
    watch.holdsUs |= large.contains(us);
  }
  if (watch.moved.count)
    handleForks();
}
