// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Long loops through memory repeat themselves. When all streams have gone on by
// the same whole number of small pages and of turns through the first cache,
// the next iterations do what the last ones did, some lines further on, if the
// first cache is as it was then, some lines further on: the set of a line and
// whether the prefetcher stops at a border are the same. So the first cache is
// compared at these points, and once it is the same, what it asked of the
// caches after it is asked again with other lines, and not found out anew.
// Those have all that is asked: nothing repeats in them, as pages lie anywhere.
//
// TLBs neither change what the first cache does nor are changed by it. For such
// a loop they are asked apart, where a stream comes to another page; and those
// for pages of each size repeat themselves in the same way. So without caches
// after the first a loop takes as long, however long it is.

#include "Sim/CoreParts.h"
#include <algorithm>
#include <map>

using namespace mpg::sim;

/// It takes some until the first cache is full of the loop's lines.
static constexpr uint64_t maxPeriods = 16, minPeriods = 4;
/// Lines of one period, which bounds what is written down.
static constexpr uint64_t maxLines = 1 << 16;

/// Whether the loop at hand is such a loop.
bool Core::findPeriod(uint64_t times) {
  stopPeriods();
  const Cursor &first = cursors.front();
  int64_t stride = first.stream.stride;
  uint64_t step = getStep(first.stream);
  uint64_t bytes = std::max(uint64_t(1) << pageShift, firstMask + 1)
                   << lineBits;
  // With a step of a line or more each iteration is another line.
  if (!first.inverse || times * step < minPeriods * bytes || !canFollow)
    return false;
  uint64_t iterations = bytes / (step & -step);
  uint64_t lines = iterations * step >> lineBits;
  if (times < minPeriods * iterations || lines * cursors.size() > maxLines)
    return false;
  for (const Cursor &cursor : cursors)
    if (cursor.stream.stride != stride)
      return false;
  period = {iterations, iterations, stride > 0 ? lines : -lines, 0, {}};
  return true;
}

void Core::stopPeriods() {
  period.times = 0;
  period.next = noLine;
  for (First &one : first)
    one.log.clear();
}

/// The state that the first cache and the sites of the loop would have had \p
/// lines earlier.
std::vector<uint64_t> Core::stateBefore(uint64_t lines) const {
  std::vector<uint64_t> state;
  for (const First &one : first) {
    one.cache.addState(lines, state);
    one.queue.addState(lines, state);
  }
  for (const Lookup &last : looked) {
    state.push_back(last.newest == noLine ? noLine
                                          : last.newest - (lines << 3));
    state.push_back(last.ahead == noLine ? noLine : last.ahead - lines);
  }
  for (const Cursor &cursor : cursors)
    state.push_back(slots[cursor.stream.site].line - lines);
  return state;
}

/// In front of iteration \p now of \p times. \returns the one to go on with.
uint64_t Core::endPeriod(uint64_t now, uint64_t times) {
  std::vector<uint64_t> state = stateBefore(++period.seen * period.lines);
  uint64_t left = (times - now) / period.times;
  if (state == period.state) {
    repeat(left);
    now += left * period.times;
    left = 0;
  }
  if (!left || period.seen == maxPeriods) {
    stopPeriods();
    return now;
  }
  period.state = std::move(state);
  period.next += period.times;
  for (First &one : first)
    one.log.clear();
  return now;
}

/// All that happened in the last period, \p periods times more.
void Core::repeat(uint64_t periods) {
  for (First &one : first) {
    for (const Request &request : one.log)
      counts[request.row + one.counter + unsigned(request.kind)] +=
          request.isBeyond || request.isZero ? 0 : periods;
    uint64_t lines = period.lines * periods;
    bool isDone = one.chains.empty() || repeatInBlocks(one, periods);
    for (uint64_t number = 1; !isDone && number <= periods; ++number)
      for (Request wanted : one.log) {
        wanted.line += number * period.lines;
        request(one, wanted);
      }
    one.cache.moveLines(lines);
    one.queue.moveLines(lines);
  }
  uint64_t lines = period.lines * periods;
  for (Lookup &last : looked) {
    last.newest += last.newest == noLine ? 0 : lines << 3;
    last.ahead += last.ahead == noLine ? 0 : lines;
  }
  // A site may have several streams.
  std::vector<uint64_t> siteLines;
  for (const Cursor &cursor : cursors)
    siteLines.push_back(slots[cursor.stream.site].line + lines);
  for (size_t at = 0; at < cursors.size(); ++at) {
    Cursor &cursor = cursors[at];
    slots[cursor.stream.site].line = siteLines[at];
    cursor.line += lines;
    cursor.end += lines;
    cursor.next += period.times * periods;
  }
}

/// One iteration, its pages of one size alone. \returns whether the same once
/// more would change nothing.
bool Core::lookupAll(Pages &size) {
  bool same = true;
  auto lookup = [&](const Cursor &cursor, uint64_t line) {
    uint64_t page = line >> size.shift;
    if (page == size.last)
      return;
    if (size.isUnchangedBy(page))
      size.last = page;
    else
      same &= lookupPage(size, slots[cursor.stream.site], page);
  };
  ++steps;
  for (const Cursor &cursor : cursors) {
    lookup(cursor, cursor.line);
    if ((cursor.line ^ cursor.end) >> pageShift)
      lookup(cursor, cursor.end);
  }
  return same;
}

/// The iterations \p now to \p end, their pages of one size alone. While all
/// streams stay on their pages one iteration is like the next.
void Core::walkPages(Pages &size, uint64_t now, uint64_t end) {
  for (uint64_t until; now < end; now = until) {
    until = end;
    for (Cursor &cursor : cursors) {
      if (cursor.next == now) {
        uint64_t way = place(cursor, now, lineBits + size.shift);
        uint64_t step = getStep(cursor.stream);
        cursor.next = step ? now + way / step + 1 : ~uint64_t(0);
      }
      until = std::min(until, cursor.next);
    }
    repeatPages(size, (until - now) * turns);
  }
}

/// \p times iterations on the same pages. If one leaves the first TLB as it
/// was, the next ones ask the second for the same pages as it did. If that is
/// least recently used, it counts the same in all of them.
void Core::repeatPages(Pages &size, uint64_t times) {
  constexpr uint64_t minTimes = 4; // else a comparison takes longer
  std::vector<uint64_t> &before = tlbStates[0], &after = tlbStates[1];
  bool compares = times >= minTimes && size.hasLruLast();
  if (compares)
    size.readFirst(before);
  for (; times; --times) {
    if (lookupAll(size))
      return;
    if (!compares || times < minTimes)
      continue;
    size.readFirst(after);
    if (before == after) {
      missWeight = times - 1;
      lookupAll(size);
      missWeight = 1;
      return;
    }
    std::swap(before, after);
  }
}

/// The iterations in which all streams go on by the same whole number of pages;
/// 0: there are none.
uint64_t Core::pagePeriod(const Pages &size) const {
  int64_t stride = cursors.front().stream.stride;
  for (const Cursor &cursor : cursors)
    if (!stride || cursor.stream.stride != stride)
      return 0;
  uint64_t step = getStep(cursors.front().stream);
  uint64_t bytes = uint64_t(1) << (size.shift + lineBits);
  return std::max(bytes / (step & -step), uint64_t(1));
}

/// The whole loop, its pages of one size. When the TLBs are as they were a
/// period before, some pages further on, the rest is counted. They are when the
/// loop has filled them. To compare them takes longer than a period, so it is
/// done ever more seldom.
void Core::runPageSize(Pages &size, uint64_t times) {
  uint64_t ofPeriod = pagePeriod(size), now = 0;
  auto restart = [&] {
    for (Cursor &cursor : cursors)
      cursor.next = now;
  };
  auto countsNow = [&] {
    std::map<unsigned, uint64_t> all;
    for (const Cursor &cursor : cursors)
      for (const Pages::Level &level : size.levels) {
        unsigned at = slots[cursor.stream.site].row + level.counter;
        all[at] = counts[at];
      }
    return all;
  };
  restart();
  int64_t bytes = int64_t(ofPeriod) * cursors.front().stream.stride;
  uint64_t way = uint64_t(bytes >> (size.shift + lineBits));
  for (uint64_t seen = 1; ofPeriod && times / ofPeriod > seen + 1;
       seen += seen / 2 + 1) {
    walkPages(size, now, seen * ofPeriod);
    now = seen * ofPeriod;
    std::vector<uint64_t> state = size.stateBefore(0);
    std::map<unsigned, uint64_t> before = countsNow();
    walkPages(size, now, now + ofPeriod);
    now += ofPeriod;
    if (size.stateBefore(way) != state)
      continue;
    uint64_t left = (times - now) / ofPeriod;
    for (const auto &[at, count] : before)
      counts[at] += (counts[at] - count) * left;
    size.movePages(way * left);
    ++pageChanges;
    now += left * ofPeriod;
    restart();
    break;
  }
  walkPages(size, now, times);
}

/// The whole loop, its pages alone.
void Core::runPages(uint64_t times) {
  constexpr uint64_t minPeriods = 8;
  pagesApart = false;
  uint64_t ofPeriod = pagePeriod(pages[0]);
  bool hasPeriods = ofPeriod && times / ofPeriod >= minPeriods;
  ++pageChanges; // sites do not know of their pages
  for (Pages &size : pages) {
    if (hasPeriods) {
      runPageSize(size, times);
      continue;
    }
    for (Cursor &cursor : cursors)
      cursor.next = 0;
    walkPages(size, 0, times);
  }
}
