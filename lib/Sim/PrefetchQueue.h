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

#pragma once

#include "Sim/SimMachine.h"
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>
#if defined(__SSE2__) && !defined(MPG_SIM_PORTABLE)
#include <emmintrin.h>
#endif

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
  PrefetchQueue() {
    fronts.fill(nowhere);
    older[ends] = newer[ends] = ends;
  }
  /// \p firstAhead: lines that the first cache's own prefetcher is ahead; they
  /// are misses of the stream like others.
  PrefetchQueue(const Prefetcher &prefetcher, unsigned firstAhead)
      : PrefetchQueue() {
    capacity = prefetcher.streams;
    this->firstAhead = firstAhead;
    maxSteps = std::max(prefetcher.linesAhead, firstAhead);
  }

  bool isOn() const { return capacity != 0; }
  /// How often see() was called.
  uint64_t misses() const { return now; }

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

  unsigned findNear(uint64_t line) const;
  unsigned findStream(uint64_t line) const;
  void setFront(unsigned stream, uint64_t line);
  void addNewest(unsigned stream);
  void makeNewest(unsigned stream);
  Beyond endOldest();
  unsigned startStream(uint64_t line);

  std::array<uint64_t, maxStreams> fronts; ///< nowhere: no stream
  /// Their low halves, for findNear.
  alignas(16) std::array<uint32_t, maxStreams> lowFronts = {};
  std::array<Stream, maxStreams> streams;
  /// The neighbours of each stream by age, in a ring: behind the newest one
  /// comes \c ends, and then the oldest.
  static constexpr uint8_t ends = maxStreams;
  std::array<uint8_t, maxStreams + 1> older = {}, newer = {};
  unsigned count = 0, capacity = 0;
  unsigned lastFreed = 0;
  unsigned firstAhead = 0, maxSteps = 0;
  uint64_t now = 0;
};

/// A bit for each stream that \p line may belong to, by the low halves.
inline unsigned PrefetchQueue::findNear(uint64_t line) const {
  uint32_t max = uint32_t(line + window);
  unsigned near = 0;
#if defined(__SSE2__) && !defined(MPG_SIM_PORTABLE)
  constexpr uint32_t sign = uint32_t(1) << 31; // it compares with signs
  const __m128i last = _mm_set1_epi32(int32_t(max + sign));
  const __m128i end = _mm_set1_epi32(int32_t(2 * window + 1 + sign));
  auto compare = [&](unsigned at) {
    __m128i four;
    memcpy(&four, &lowFronts[at], sizeof(four));
    return _mm_cmplt_epi32(_mm_sub_epi32(last, four), end);
  };
  __m128i low = _mm_packs_epi32(compare(0), compare(4));
  __m128i high = _mm_packs_epi32(compare(8), compare(12));
  near = unsigned(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
#else
  for (unsigned at = 0; at < maxStreams; ++at)
    near |= unsigned(max - lowFronts[at] <= 2 * window) << at;
#endif
  return near;
}

/// The newest of the streams that \p line belongs to; maxStreams: none.
inline unsigned PrefetchQueue::findStream(uint64_t line) const {
  unsigned found = maxStreams;
  for (unsigned near = findNear(line); near; near &= near - 1) {
    unsigned at = unsigned(__builtin_ctz(near));
    if (line - fronts[at] + window <= 2 * window &&
        (found == maxStreams || streams[at].seen > streams[found].seen))
      found = at;
  }
  return found;
}

inline void PrefetchQueue::setFront(unsigned stream, uint64_t line) {
  fronts[stream] = line;
  lowFronts[stream] = uint32_t(line);
}

inline void PrefetchQueue::addNewest(unsigned stream) {
  unsigned before = older[ends];
  older[stream] = uint8_t(before);
  newer[stream] = ends;
  newer[before] = older[ends] = uint8_t(stream);
}

inline void PrefetchQueue::makeNewest(unsigned stream) {
  newer[older[stream]] = newer[stream];
  older[newer[stream]] = older[stream];
  addNewest(stream);
}

inline PrefetchQueue::Beyond PrefetchQueue::endOldest() {
  unsigned oldest = newer[ends];
  newer[ends] = newer[oldest];
  older[newer[oldest]] = ends;
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
  ++count;
  addNewest(at);
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
      (count > !isNew && now - streams[newer[ends]].seen >= maxAge))
    beyond = endOldest();
  if (isNew)
    own = startStream(line);
  Stream &stream = streams[own];
  int64_t way = int64_t(line - fronts[own]);
  bool isBack = stream.steps && (way < 0) != (stream.steps < 0);
  if (way && !isBack) {
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
  for (unsigned number = newer[ends]; number != ends; number = newer[number]) {
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
