// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The prefetcher of the second cache: the streams in which the first cache
// misses.
//
// A prefetcher that runs ahead of a stream fetches what the stream is about to
// use, and, where the stream ends, what nobody uses. The first part moves a
// miss from one line to an earlier moment; the second is traffic. So a stream
// fetches nothing while it goes on, and when it ends the lines beyond its end:
// that is what the counts of a stream's misses lack, at no cost for streams
// that are long.

#ifndef MPG_SIM_PREFETCHQUEUE_H
#define MPG_SIM_PREFETCHQUEUE_H

#include "Sim/SimMachine.h"
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace mpg::sim {

class PrefetchQueue {
public:
  static constexpr unsigned maxStreams = 16;

  /// Lines that a stream fetched beyond its end, \p way apart.
  struct Beyond {
    uint64_t line = 0;
    int64_t way = 1;
    unsigned count = 0;
    unsigned row = 0; ///< of the counters of the stream's last site
    uint8_t sector = 0;
  };

  /// Follows no stream: see() must not be called.
  PrefetchQueue() { fronts.fill(nowhere); }
  /// \p firstAhead: lines that the first cache's own prefetcher is ahead; they
  /// are misses of the stream like others.
  PrefetchQueue(const Prefetcher &prefetcher, unsigned firstAhead)
      : PrefetchQueue() {
    capacity = prefetcher.streams;
    this->firstAhead = firstAhead;
    maxSteps = std::max(prefetcher.linesAhead, firstAhead);
  }

  bool isOn() const { return capacity != 0; }

  /// The first cache missed \p line, on demand or by its prefetcher.
  /// \returns what a stream that has ended fetched in vain.
  Beyond see(uint64_t line, unsigned row, uint8_t sector);

  /// Adds all that decides what comes next, as if each line were \p lines less.
  void addState(uint64_t lines, std::vector<uint64_t> &state) const;
  /// Each line becomes the one \p lines further on.
  void moveLines(uint64_t lines);

private:
  /// Misses this near to the front of a stream belong to it.
  static constexpr uint64_t window = 8;
  /// A stream that had none of so many misses has ended.
  static constexpr uint64_t maxAge = 256;
  static constexpr uint64_t nowhere = uint64_t(1) << 63; ///< no line is near

  struct Stream {
    int64_t steps = 0; ///< lines that it went, at most maxSteps; with its sign
    uint64_t seen = 0; ///< the last miss that belonged to it, by number
    unsigned row = 0;
    uint8_t sector = 0;
  };

  unsigned findStream(uint64_t line) const;
  void setFront(unsigned stream, uint64_t line);
  void makeNewest(unsigned stream);
  Beyond endOldest();
  unsigned startStream(uint64_t line);

  std::array<uint64_t, maxStreams> fronts; ///< nowhere: no stream
  /// How many fronts are in each block of lines: most lines are near none.
  static constexpr uint64_t blockLines = 2 * window, blocks = 256;
  std::array<uint8_t, blocks> inBlock = {};
  std::array<Stream, maxStreams> streams;
  /// A ring, the oldest of \p count at \p begin.
  std::array<uint8_t, maxStreams> byAge = {};
  unsigned begin = 0, count = 0, capacity = 0;
  unsigned lastFreed = 0;
  unsigned firstAhead = 0, maxSteps = 0;
  uint64_t now = 0;
};

/// The newest of the streams that \p line belongs to; maxStreams: none.
inline unsigned PrefetchQueue::findStream(uint64_t line) const {
  uint64_t block = line / blockLines;
  if (!(inBlock[(block - 1) % blocks] | inBlock[block % blocks] |
        inBlock[(block + 1) % blocks]))
    return maxStreams;
  unsigned matches = 0;
  for (unsigned at = 0; at < maxStreams; ++at)
    matches |= unsigned(line - fronts[at] + window <= 2 * window) << at;
  unsigned found = maxStreams;
  for (; matches; matches &= matches - 1) {
    unsigned at = unsigned(__builtin_ctz(matches));
    if (found == maxStreams || streams[at].seen > streams[found].seen)
      found = at;
  }
  return found;
}

inline void PrefetchQueue::setFront(unsigned stream, uint64_t line) {
  if (fronts[stream] != nowhere)
    --inBlock[fronts[stream] / blockLines % blocks];
  if (line != nowhere)
    ++inBlock[line / blockLines % blocks];
  fronts[stream] = line;
}

/// pre: it is in byAge.
inline void PrefetchQueue::makeNewest(unsigned stream) {
  unsigned at = begin + count - 1;
  uint8_t moved = uint8_t(stream);
  while (true) {
    std::swap(byAge[at % maxStreams], moved);
    if (moved == stream)
      return;
    --at;
  }
}

inline PrefetchQueue::Beyond PrefetchQueue::endOldest() {
  unsigned oldest = byAge[begin++ % maxStreams];
  --count;
  const Stream &stream = streams[oldest];
  Beyond beyond;
  unsigned steps = unsigned(std::abs(stream.steps));
  beyond.line = fronts[oldest];
  beyond.way = stream.steps < 0 ? -1 : 1;
  beyond.count = std::max(steps, firstAhead) - firstAhead;
  beyond.row = stream.row;
  beyond.sector = stream.sector;
  setFront(oldest, nowhere);
  lastFreed = oldest;
  return beyond;
}

/// pre: fewer than maxStreams are in use.
inline unsigned PrefetchQueue::startStream(uint64_t line) {
  unsigned at = lastFreed;
  while (fronts[at] != nowhere)
    at = (at + 1) % maxStreams;
  byAge[(begin + count++) % maxStreams] = uint8_t(at);
  streams[at].steps = 0;
  setFront(at, line);
  return at;
}

inline PrefetchQueue::Beyond PrefetchQueue::see(uint64_t line, unsigned row,
                                                uint8_t sector) {
  assert(isOn() && "no stream can be followed");
  ++now;
  unsigned own = findStream(line);
  bool isNew = own == maxStreams;
  if (!isNew)
    makeNewest(own);
  Beyond beyond;
  if ((isNew && count == capacity) ||
      (count > !isNew &&
       now - streams[byAge[begin % maxStreams]].seen >= maxAge))
    beyond = endOldest();
  if (isNew)
    own = startStream(line);
  Stream &stream = streams[own];
  int64_t way = int64_t(line - fronts[own]);
  bool isBack = stream.steps && (way < 0) != (stream.steps < 0);
  if (!isBack) {
    setFront(own, line);
    stream.steps =
        std::clamp(stream.steps + way, -int64_t(maxSteps), int64_t(maxSteps));
  }
  stream.seen = now;
  stream.row = row;
  stream.sector = sector;
  return beyond;
}

inline void PrefetchQueue::addState(uint64_t lines,
                                    std::vector<uint64_t> &state) const {
  for (unsigned at = 0; at < count; ++at) {
    unsigned number = byAge[(begin + at) % maxStreams];
    const Stream &stream = streams[number];
    state.push_back(fronts[number] - lines);
    state.push_back(now - stream.seen);
    state.push_back(uint64_t(stream.steps));
    state.push_back(uint64_t(stream.row) << 8 | stream.sector);
  }
}

inline void PrefetchQueue::moveLines(uint64_t lines) {
  for (unsigned at = 0; at < maxStreams; ++at)
    if (fronts[at] != nowhere)
      setFront(at, fronts[at] + lines);
}

} // namespace mpg::sim

#endif // MPG_SIM_PREFETCHQUEUE_H
