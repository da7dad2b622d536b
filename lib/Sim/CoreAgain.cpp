// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop along the column of a matrix is often followed by one along the next
// column, in the same lines. If the first cache, its prefetcher and the sites
// are as they were before the first loop, the second one does the same: its
// requests to the caches after the first are those of the first loop, and so is
// the state after it. Only for loops whose TLBs are looked up apart
// (CorePages.cpp): the next column may be on other pages.

#include "Sim/CoreParts.h"
#include <algorithm>

using namespace mpg::sim;

/// The numbers that decide the line of each access of the loop at hand. A
/// stream moves by whole blocks of as many bytes as the lowest bit of its
/// stride, and lines are whole blocks. So the place in a block has no effect.
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

/// The first cache, and the last line of each of \p sites.
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

/// Makes the requests of \p past again and takes over the state after it.
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

/// Runs the loop at hand, for a later repeat().
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
  constexpr uint64_t minLines = 128; // else a comparison takes longer
  // These two bound the memory, whatever the number of sites.
  constexpr uint64_t maxLines = 4096;
  constexpr unsigned maxPast = 16;
  // Most programs have no such loops, and a record takes time.
  constexpr unsigned maxUnused = 4, pause = 1000;
  uint64_t lines = times * cursors.size();
  if (!pagesApart || times > maxLines || lines > maxLines || lines < minLines)
    return runEach(times);
  pastLoops.resize(maxPast);
  PastLoop &past = pastLoops[cursors.front().stream.site % maxPast];
  if (past.wait) {
    --past.wait;
    return runEach(times);
  }
  std::vector<uint64_t> loop = describeLoop(times);
  std::vector<unsigned> sites;
  for (const Cursor &cursor : cursors)
    sites.push_back(cursor.stream.site);
  std::vector<uint64_t> state = readState(sites), streams(first.size());
  for (size_t at = 0; at < first.size(); ++at) {
    first[at].queue.addState(0, streams);
    streams[at] = streams.size();
  }
  // Without requests nothing looks at the streams of misses.
  bool hasRequests = std::any_of(past.requests.begin(), past.requests.end(),
                                 [](const auto &its) { return !its.empty(); });
  if (past.loop == loop && past.before == state &&
      (!hasRequests || past.streams == streams)) {
    past.unused = 0;
    return repeat(past);
  }
  if (!past.loop.empty() && ++past.unused > maxUnused) {
    past = {}; // its memory, too
    past.unused = maxUnused;
    past.wait = pause;
    return runEach(times);
  }
  past.loop = std::move(loop);
  past.sites = std::move(sites);
  past.before = std::move(state);
  past.streams = std::move(streams);
  record(past, times);
}
