// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TLBs and the first cache do not affect each other. For a loop that repeats
// itself (CorePeriods.cpp) TLBs are looked up apart, when a stream comes to
// another page; and those for pages of each size repeat themselves in the same
// way. So without caches after the first a loop takes as long, however long it
// is.

#include "Sim/CoreParts.h"
#include <algorithm>
#include <map>

using namespace mpg::sim;

/// The loop at hand, its pages of one size.
class Core::PageRuns {
public:
  PageRuns(Core &core, Pages &size, uint64_t times)
      : core(core), size(size), times(times), ofPeriod(findPeriod()) {}
  /// Whether it is long enough to repeat itself.
  bool hasPeriods() const {
    constexpr uint64_t minPeriods = 8;
    return ofPeriod && times / ofPeriod >= minPeriods;
  }
  void run(bool looksForPeriods);

private:
  uint64_t findPeriod() const;
  std::map<unsigned, uint64_t> getCounts() const;
  bool skipPeriods(uint64_t seen);
  void walk(uint64_t end);
  void repeat(uint64_t iterations);
  bool lookupAll();

  Core &core;
  Pages &size;
  const uint64_t times;    ///< iterations
  const uint64_t ofPeriod; ///< iterations; 0: it has no periods
  uint64_t now = 0;        ///< the next iteration
};

/// The iterations in which all streams go on by the same whole number of pages;
/// 0: there are none.
uint64_t Core::PageRuns::findPeriod() const {
  int64_t stride = core.cursors.front().stream.stride;
  for (const Cursor &cursor : core.cursors)
    if (!stride || cursor.stream.stride != stride)
      return 0;
  uint64_t step = getStep(core.cursors.front().stream);
  uint64_t bytes = uint64_t(1) << (size.shift + core.lineBits);
  return std::max(bytes / (step & -step), uint64_t(1));
}

/// One iteration. \returns whether the same once more would change nothing.
bool Core::PageRuns::lookupAll() {
  bool same = true;
  auto lookup = [&](const Cursor &cursor, uint64_t line) {
    uint64_t page = line >> size.shift;
    if (page == size.last)
      return;
    if (size.isUnchangedBy(page))
      size.last = page;
    else
      same &= core.lookupPage(size, core.slots[cursor.stream.site], page);
  };
  ++core.steps;
  for (const Cursor &cursor : core.cursors) {
    lookup(cursor, cursor.line);
    if ((cursor.line ^ cursor.end) >> core.pageShift)
      lookup(cursor, cursor.end);
  }
  return same;
}

/// The iterations up to \p end. While all streams stay on their pages one
/// iteration is like the next.
void Core::PageRuns::walk(uint64_t end) {
  while (now < end) {
    uint64_t until = end;
    for (Cursor &cursor : core.cursors) {
      if (cursor.next == now) {
        uint64_t way = core.place(cursor, now, core.lineBits + size.shift);
        uint64_t step = getStep(cursor.stream);
        cursor.next = step ? now + way / step + 1 : ~uint64_t(0);
      }
      until = std::min(until, cursor.next);
    }
    repeat((until - now) * core.turns);
    now = until;
  }
}

/// \p iterations on the same pages. If one leaves the first TLB as it was, the
/// next ones ask the second for the same pages as it did. If that is least
/// recently used, it counts the same in all of them.
void Core::PageRuns::repeat(uint64_t iterations) {
  constexpr uint64_t minTimes = 4; // else a comparison takes longer
  std::vector<uint64_t> &before = core.tlbStates[0], &after = core.tlbStates[1];
  bool compares = iterations >= minTimes && size.hasLruLast();
  if (compares)
    size.readFirst(before);
  for (; iterations; --iterations) {
    if (lookupAll())
      return;
    if (!compares || iterations < minTimes)
      continue;
    size.readFirst(after);
    if (before == after) {
      core.missWeight = iterations - 1;
      lookupAll();
      core.missWeight = 1;
      return;
    }
    std::swap(before, after);
  }
}

/// The TLBs' counts, by their place in the core's counts.
std::map<unsigned, uint64_t> Core::PageRuns::getCounts() const {
  std::map<unsigned, uint64_t> all;
  for (const Cursor &cursor : core.cursors)
    for (const Pages::Level &level : size.levels) {
      unsigned at = core.slots[cursor.stream.site].row + level.counter;
      all[at] = core.counts[at];
    }
  return all;
}

/// Counts what is left of the loop if the TLBs are after period \p seen as they
/// were before it, some pages further on. They are when the loop has filled
/// them.
bool Core::PageRuns::skipPeriods(uint64_t seen) {
  int64_t bytes = int64_t(ofPeriod) * core.cursors.front().stream.stride;
  uint64_t way = uint64_t(bytes >> (size.shift + core.lineBits));
  walk(seen * ofPeriod);
  std::vector<uint64_t> state = size.stateBefore(0);
  std::map<unsigned, uint64_t> before = getCounts();
  walk(now + ofPeriod);
  if (size.stateBefore(way) != state)
    return false;
  uint64_t left = (times - now) / ofPeriod;
  for (const auto &[at, count] : before)
    core.counts[at] += (core.counts[at] - count) * left;
  size.movePages(way * left);
  ++core.pageChanges;
  now += left * ofPeriod;
  for (Cursor &cursor : core.cursors)
    cursor.next = now;
  return true;
}

/// To compare the TLBs takes longer than a period, so it is done ever more
/// seldom.
void Core::PageRuns::run(bool looksForPeriods) {
  for (Cursor &cursor : core.cursors)
    cursor.next = 0;
  if (looksForPeriods && ofPeriod)
    for (uint64_t seen = 1; times / ofPeriod > seen + 1 && !skipPeriods(seen);)
      seen += seen / 2 + 1;
  walk(times);
}

/// The whole loop, its pages alone.
void Core::runPages(uint64_t times) {
  pagesApart = false;
  ++pageChanges; // sites do not know of their pages
  bool hasPeriods = PageRuns(*this, pages[0], times).hasPeriods();
  for (Pages &size : pages)
    PageRuns(*this, size, times).run(hasPeriods);
}
