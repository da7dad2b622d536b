// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts .data and .bss onto large pages: finds the movable parts (Segments), has
// them moved (Mover), and reports the result. Prints at most one line about
// missing memory and one about a layout that prevents the move, and nothing for
// a program whose data is smaller than a large page.

#include "segments/Remap.h"
#include "base/SelfMaps.h"
#include "base/Syscall.h"
#include "heap/Collapse.h"
#include "pages/Shortage.h"
#include <signal.h>

using namespace mpg;

// For a fork

namespace {

constexpr size_t maxRanges = 64;

/// The last report about a region to mpgrun.
struct Region {
  mpg_region_kind kind = MPG_REGION_DATA;
  Range range;
};

struct SegmentWatch {
  size_t hugePageBytes = 0;
  Messages *messages = nullptr;
  bool holdsUs = false; ///< our variables and the C library's
  size_t count = 0;
  Range moved[maxRanges]; ///< onto hugetlb pages, by addresses; none touch
  size_t regionCount = 0;
  Region regions[maxRanges];
};

} // namespace

static SegmentWatch watch;

static void addMoved(Range range) {
  if (watch.count && watch.moved[watch.count - 1].end == range.start)
    watch.moved[watch.count - 1].end = range.end;
  else if (watch.count < maxRanges)
    watch.moved[watch.count++] = range;
}

SegmentRanges mpg::segmentsOnLargePages() {
  return {watch.moved, watch.moved + watch.count};
}

uint64_t mpg::segmentHugeBytes() {
  uint64_t bytes = 0;
  for (Range range : segmentsOnLargePages())
    bytes += range.bytes();
  return bytes;
}

bool mpg::segmentsHoldLibraries() { return watch.count && watch.holdsUs; }

void mpg::segmentsHaveLeft(ThpBytes thpBytes, const void *context) {
  watch.count = 0;
  for (size_t i = 0; i < watch.regionCount; ++i) {
    const Region &region = watch.regions[i];
    watch.messages->region(region.kind, region.range,
                           thpBytes(context, region.range), watch.hugePageBytes,
                           movedByForkReason);
  }
}

// Start

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

/// Call once, with everything that was moved. \p parts may go away.
static void noteLargeSegments(const Part *parts, size_t partCount,
                              const Config &config, Messages &messages) {
  watch.hugePageBytes = config.hugeBytes;
  watch.messages = &messages;
  auto us = uintptr_t(&watch);
  for (size_t i = 0; i < partCount; ++i) {
    const Part &part = parts[i];
    Range large{part.range.start, part.hugetlbEnd};
    if (part.thpEnd > part.hugetlbEnd)
      watchForCollapse({part.hugetlbEnd, part.thpEnd});
    if (large.empty())
      continue;
    addMoved(large);
    if (i == 0 || parts[i - 1].segment != part.segment)
      addRegions(*part.segment);
    // Not only its large part: the C library's variables lie apart from ours.
    watch.holdsUs |= part.segment->range.contains(us);
  }
}

// The move

namespace {

/// Bytes of a region and what became of them.
struct Tally {
  uint64_t total = 0, movable = 0, huge = 0, promised = 0;
  uint64_t pagedIn = 0; ///< of .bss
};

using BssTouch = void (*)(Range bss, const Config &, Messages &);

/// One start-up. On the stack, as everything that is used while memory moves.
class Remap {
public:
  Remap(const Config &config, Messages &messages)
      : config(config), messages(messages), hugePageBytes(config.hugeBytes) {}
  void run(unsigned threads, BssTouch touch);

private:
  void findParts();
  void moveParts(Mover &mover);
  void touchParts(BssTouch touch);
  Tally countTally(Range region) const;
  void report(const Mover &mover);
  void reportRegion(mpg_region_kind kind, Range region, const Mover &mover);
  void addReason(LineBuffer &line, const Tally &tally,
                 const Mover &mover) const;
  void reportHidden(const Tally &all);
  void reportLayout(const Tally &all);
  void reportMissing(const Tally &all, const Mover &mover);
  void reportLeftForTouch(const Mover &mover);
  Range getRegion(const Segment &segment, bool bss) const;
  bool usedThp() const;

  static constexpr size_t maxSegments = 32, maxParts = 64;
  const Config &config;
  Messages &messages;
  const size_t hugePageBytes;
  bool manyThreads = false, isMapHidden = false;
  size_t segmentCount = 0, partCount = 0;
  Segment segments[maxSegments];
  Part parts[maxParts];
};

} // namespace

void Remap::findParts() {
  segmentCount =
      findSegments(config.remapLibraries, hugePageBytes, segments, maxSegments);
  uintptr_t brk = uintptr_t(rawCall(SYS_brk, 0));
  for (size_t i = 0; i < segmentCount; ++i) {
    if (segments[i].range.bytes() * 2 < hugePageBytes)
      continue; // most programs: skip reading the map
    MovableFinder finder(segments[i], hugePageBytes, basePageBytes(), brk);
    SelfMaps maps;
    Mapping mapping;
    while (maps.next(mapping))
      finder.see(mapping);
    if (!maps.opened()) { // without a map, nothing is known to be movable
      isMapHidden = true;
      return;
    }
    finder.finish();
    for (unsigned j = 0; j < finder.count && partCount < maxParts; ++j) {
      Part &part = parts[partCount++];
      part.range = finder.ranges[j];
      part.segment = &segments[i];
      part.hugetlbEnd = part.thpEnd = part.range.start;
    }
  }
}

/// Blocks all signals, because a handler that wrote to a piece after its copy
/// would write into memory that is about to go. Nothing is lost by it.
void Remap::moveParts(Mover &mover) {
  uint64_t all = ~uint64_t(0), before = 0;
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&all), long(&before),
          sizeof all);
  for (size_t i = 0; i < partCount; ++i)
    mover.move(parts[i]);
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&before), 0, sizeof before);
}

/// Places memory that is only reserved or advised so far.
void Remap::touchParts(BssTouch touch) {
  for (size_t i = 0; i < partCount; ++i) {
    Part &part = parts[i];
    uintptr_t bss = roundUp(part.segment->fileEnd, hugePageBytes);
    Range large = common({bss, part.thpEnd}, part.range);
    if (large.empty())
      continue;
    touch(large, config, messages);
    if (config.bssInParts) // all of it is present now
      part.promisedBytes = 0;
  }
}

// The outcome

Tally Remap::countTally(Range region) const {
  Tally tally;
  tally.total = region.bytes();
  for (size_t i = 0; i < partCount; ++i) {
    const Part &part = parts[i];
    Range thp = common({part.hugetlbEnd, part.thpEnd}, region);
    uint64_t movable = common(part.range, region).bytes();
    tally.movable += movable;
    if (movable && region.end > part.segment->fileEnd)
      tally.pagedIn += part.pagedInBytes;
    tally.huge += common({part.range.start, part.hugetlbEnd}, region).bytes();
    if (thp.empty())
      continue;
    // Nothing is present yet: the kernel's list need not be read for it, which
    // takes a good part of a start.
    bool isAllPromised = part.promisedBytes == part.thpEnd - part.hugetlbEnd;
    uint64_t counted = isAllPromised ? 0 : readUse(thp).thpBytes;
    tally.huge += counted;
    if (!thpIsCounted() && thpOf2MibIsOn())
      tally.promised += thp.bytes() - counted;
    else if (region.end > part.segment->fileEnd)
      tally.promised += part.promisedBytes;
  }
  if (tally.promised > tally.total - tally.huge)
    tally.promised = tally.total - tally.huge;
  return tally;
}

bool Remap::usedThp() const {
  for (size_t i = 0; i < partCount; ++i)
    if (parts[i].thpEnd > parts[i].hugetlbEnd)
      return true;
  return false;
}

Range Remap::getRegion(const Segment &segment, bool bss) const {
  if (segment.isLibrary)
    return bss ? Range{} : segment.range;
  return bss ? segment.bss() : segment.data();
}

static const char hiddenMap[] =
    "/proc/self/maps cannot be read; fix: mount /proc in the container";

void Remap::addReason(LineBuffer &line, const Tally &tally,
                      const Mover &mover) const {
  if (manyThreads)
    line.add("there were several threads at start-up");
  else if (isMapHidden)
    line.add(hiddenMap);
  else if (tally.huge + tally.promised < tally.movable && mover.failed())
    explainShortage(line, mover.failedSource, hugePageBytes,
                    tally.movable - tally.huge, mover.error);
  else if (tally.huge + tally.promised < tally.movable)
    explainShortage(line, Source::thp, hugePageBytes,
                    tally.movable - tally.huge, 0);
  else if (tally.promised)
    line.add(thpIsCounted()
                 ? "transparent huge pages come when the memory is touched"
                 : "the kernel does not count transparent huge pages of 2 MiB");
  else if (tally.total < hugePageBytes)
    line.add("smaller than a large page");
  else if (tally.movable < tally.total)
    line.addAll(Bytes(tally.total - tally.movable),
                " share large pages with other memory; fix: link with ld.mpg");
}

void Remap::reportRegion(mpg_region_kind kind, Range region,
                         const Mover &mover) {
  if (region.empty())
    return;
  Tally tally = countTally(region);
  LineBuffer reason;
  addReason(reason, tally, mover);
  messages.region(kind, region, tally.huge + tally.promised, hugePageBytes,
                  reason.length() ? reason.text() : "");
  if (tally.pagedIn)
    messages.pagedIn(kind, region.start, tally.pagedIn);
}

void Remap::reportHidden(const Tally &all) {
  messages.report(MPG_MSG_KERNEL, ".data and .bss: ", Bytes(all.total),
                  " stay on normal pages (more TLB misses): ", hiddenMap);
}

/// The linker's layout keeps more than half of a large program on normal pages.
void Remap::reportLayout(const Tally &all) {
  // Two frames are what the edges of any program may cost: no news.
  if (all.total < 2 * hugePageBytes || all.movable * 2 >= all.total)
    return;
  // Begins like the vendor's message: job scripts search for it.
  messages.report(MPG_LPG_OVERLAP, "Failed to map HugeTLBfs for data/bss: ",
                  Bytes(all.total - all.movable), " of ", Bytes(all.total),
                  " share large pages of ", Bytes(hugePageBytes),
                  " with other segments; they stay on normal pages (more TLB "
                  "misses); fix: link with ld.mpg");
}

void Remap::reportMissing(const Tally &all, const Mover &mover) {
  uint64_t missing = all.movable - all.huge - all.promised;
  if (missing > all.movable || missing == 0)
    return;
  // The kernel decides how many transparent huge pages it makes; a few missing
  // ones are expected.
  if (usedThp() && missing * 20 < all.movable)
    return;
  Source source = mover.failed() ? mover.failedSource : Source::thp;
  LineBuffer line(".data and .bss: ", Bytes(missing), " of ", Bytes(all.total),
                  " stay on normal pages (more TLB misses): ");
  explainShortage(line, source, hugePageBytes, missing, mover.error);
  messages.report(source == Source::thp ? MPG_MSG_KERNEL : MPG_MSG_SHORTAGE,
                  line);
}

/// PAGING_POLICY=prepage was requested, and nothing reserves so much.
void Remap::reportLeftForTouch(const Mover &mover) {
  if (!mover.leftForTouch)
    return;
  messages.report(
      MPG_MSG_KERNEL, ".bss: ", Bytes(mover.leftForTouch),
      " come at the first touch, although PAGING_POLICY is prepage: that "
      "much memory is not free (MemAvailable, with an eighth for others); "
      "fix: PAGING_POLICY=demand:demand:demand, or a pool of large pages");
}

void Remap::report(const Mover &mover) {
  Tally all;
  for (size_t i = 0; i < segmentCount; ++i) {
    const Segment &segment = segments[i];
    Range data = getRegion(segment, false), bss = getRegion(segment, true);
    reportRegion(segment.isLibrary ? MPG_REGION_LIBRARY : MPG_REGION_DATA, data,
                 mover);
    reportRegion(MPG_REGION_BSS, bss, mover);
    Tally tally = countTally(segment.range);
    all.total += tally.total;
    all.movable += tally.movable;
    all.huge += tally.huge;
    all.promised += tally.promised;
  }
  if (manyThreads) {
    messages.report(
        MPG_LPG_THREADS, ".data and .bss: ", Bytes(all.total),
        " stay on normal pages (more TLB misses): there is more than one "
        "thread at start-up; fix: do not start threads in a constructor, "
        "or name libmpg first in LD_PRELOAD");
    return;
  }
  if (isMapHidden)
    return reportHidden(all);
  reportLayout(all);
  reportMissing(all, mover);
  reportLeftForTouch(mover);
}

void Remap::run(unsigned threads, BssTouch touch) {
  findParts();
  // Writes of another thread between the copy and the move would be lost.
  manyThreads = partCount && threads > 1;
  Mover mover(config);
  if (partCount && !manyThreads)
    moveParts(mover);
  if (config.firstTouch == TouchMode::start)
    touchParts(touch);
  report(mover);
  noteLargeSegments(parts, partCount, config, messages);
}

void mpg::remapSegments(const Config &config, Messages &messages,
                        unsigned threads, BssTouch touch) {
  Remap(config, messages).run(threads, touch);
}
