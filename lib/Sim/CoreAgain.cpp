// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop along the column of a matrix is often followed by one along the next
// column, in the same lines. If the first cache and all that goes with it is as
// it was when that loop began, the loop does the same: what it asked of the
// caches after the first is asked again, and the first cache is then as that
// loop left it. TLBs are looked up apart.

#include "Sim/CoreParts.h"
#include <algorithm>

using namespace mpg::sim;

/// All that decides in which lines the loop at hand is in each iteration: two
/// addresses less than the lowest bit of the stride apart are always in the
/// same line, if they are so once.
std::vector<uint64_t> Core::describeLoop(uint64_t times) const {
  std::vector<uint64_t> all = {times, turns};
  for (const Cursor &cursor : cursors) {
    const Stream &stream = cursor.stream;
    uint64_t step = getStep(stream) | uint64_t(1) << lineBits;
    uint64_t block = -(step & -step);
    all.insert(all.end(),
               {stream.site, uint64_t(stream.stride), stream.begin & block,
                (stream.begin + cursor.bytes - 1) & block});
  }
  return all;
}

/// Of the first cache and the sites of \p loop.
std::vector<uint64_t>
Core::readState(const std::vector<unsigned> &sites) const {
  std::vector<uint64_t> state;
  for (const First &one : first)
    one.cache.appendWords(state);
  for (const Lookup &last : looked)
    state.insert(state.end(), {last.newest, last.ahead});
  for (unsigned site : sites)
    state.push_back(slots[site].line);
  return state;
}

void Core::writeState(const std::vector<unsigned> &sites,
                      const std::vector<uint64_t> &state) {
  const uint64_t *next = state.data();
  for (First &one : first)
    next = one.cache.setWords(next);
  for (Lookup &last : looked) {
    last = {next[0], next[1]};
    next += 2;
  }
  for (unsigned site : sites)
    slots[site].line = *next++;
}

/// As \p past did.
void Core::repeat(const PastLoop &past) {
  for (size_t at = 0; at < first.size(); ++at) {
    First &one = first[at];
    for (const Request &wanted : past.requests[at]) {
      counts[wanted.row + one.counter + unsigned(wanted.kind)] +=
          !wanted.isBeyond && !wanted.isZero;
      request(one, wanted);
    }
    if (!past.requests[at].empty())
      one.queue = past.queues[at];
  }
  writeState(past.sites, past.after);
  dropFollowers();
}

void Core::record(PastLoop &past, uint64_t times) {
  for (First &one : first)
    one.log.clear();
  isLogging = true;
  runEach(times);
  isLogging = false;
  past.requests.resize(first.size());
  past.queues.clear();
  for (size_t at = 0; at < first.size(); ++at) {
    std::swap(past.requests[at], first[at].log);
    past.queues.push_back(first[at].queue);
  }
  past.after = readState(past.sites);
}

/// The loop at hand, with streams that are in another line in each iteration.
void Core::runEachOrRepeat(uint64_t times) {
  constexpr uint64_t minLines = 128;  // else a comparison takes longer
  constexpr uint64_t maxLines = 4096; // which bounds what is written down
  constexpr unsigned minUnused = 4, maxWait = 1023;
  if (!pagesApart || period.times || times > maxLines ||
      times * cursors.size() > maxLines || times * cursors.size() < minLines)
    return runEach(times);
  unsigned site = cursors.front().stream.site;
  if (site >= pastLoops.size())
    pastLoops.resize(site + 1);
  PastLoop &past = pastLoops[site];
  if (past.wait) {
    --past.wait;
    return runEach(times);
  }
  std::vector<uint64_t> loop = describeLoop(times);
  std::vector<unsigned> sites;
  for (const Cursor &cursor : cursors)
    sites.push_back(cursor.stream.site);
  std::vector<uint64_t> state = readState(sites), streams;
  for (const First &one : first)
    one.queue.addState(0, streams);
  // Streams of misses change by these alone.
  bool hasRequests = std::any_of(past.requests.begin(), past.requests.end(),
                                 [](const auto &its) { return !its.empty(); });
  if (past.loop == loop && past.before == state &&
      (!hasRequests || past.streams == streams)) {
    past.unused = 0;
    return repeat(past);
  }
  if (++past.unused > minUnused)
    past.wait = std::min(past.unused * past.unused, maxWait);
  past.loop = std::move(loop);
  past.sites = std::move(sites);
  past.before = std::move(state);
  past.streams = std::move(streams);
  record(past, times);
}
