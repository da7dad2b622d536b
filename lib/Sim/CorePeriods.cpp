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

#include "Sim/CoreParts.h"
#include <algorithm>

using namespace mpg::sim;

/// The first cache needs some periods to fill with the loop's lines.
static constexpr uint64_t maxPeriods = 16, minPeriods = 4;
/// Lines of one period; bounds the log.
static constexpr uint64_t maxLines = 1 << 16;

/// Whether the loop at hand is such a loop.
bool Core::findPeriod(uint64_t times) {
  stopPeriods();
  const Cursor &first = cursors.front();
  int64_t stride = first.stream.stride;
  uint64_t step = getStep(first.stream);
  uint64_t bytes = std::max(uint64_t(1) << pageShift, firstMask + 1)
                   << lineBits;
  // Unrolled loops go on by a line; with longer steps a period is long.
  if (!step || step >> lineBits > 1 || times * step < minPeriods * bytes ||
      !canFollow)
    return false;
  uint64_t iterations = bytes / (step & -step);
  uint64_t lines = iterations * step >> lineBits;
  if (times < minPeriods * iterations || lines * cursors.size() > maxLines)
    return false;
  for (const Cursor &cursor : cursors)
    if (cursor.stream.stride != stride)
      return false;
  period = {iterations, iterations, stride > 0 ? lines : -lines, 0, {}};
  isLogging = true;
  return true;
}

void Core::stopPeriods() {
  period.times = 0;
  isLogging = false;
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
    one.queue.addState(one.isQueueIdle ? 0 : lines, state);
    state.push_back(one.isQueueIdle);
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

/// Called before iteration \p now of \p times. \returns the next iteration to
/// simulate.
uint64_t Core::endPeriod(uint64_t now, uint64_t times) {
  // Streams that nobody asks for stay where they are.
  for (First &one : first) {
    one.isQueueIdle = one.queue.misses() == one.missesBefore;
    one.missesBefore = one.queue.misses();
  }
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
    if (!one.isQueueIdle)
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
