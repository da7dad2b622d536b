// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the requests of a loop's periods to the cache after the first, a block
// of lines at a time. Each stream takes all lines of a block, one after the
// other. If all sets of the block hold the same, some lines further on, they
// stay alike, so one set answers for all (CacheSets::isAlike). While a loop
// floods the cache that is nearly always so.
//
// Sets know nothing of each other. So what is asked may be asked in another
// order, as long as it is the same in each set: the blocks that two streams
// take in the same sets at the same time are compared line by line, and where
// one is not ahead of the other in all of them, all is asked line by line. So
// this is exact. It is for chains of one cache: one after it would see the
// order of all sets.

#include "Sim/CoreParts.h"
#include <algorithm>
#include <cassert>

using namespace mpg::sim;

/// Requests of a period that take one line after another, once each.
struct Core::Track {
  /// One block of lines, the same again in each period.
  struct Shape {
    std::vector<int64_t> times; ///< of its lines, in period 0
    int64_t first, last;        ///< the least and the most of them
    int64_t earliest, latest;   ///< the periods that they are in, less that
    std::vector<std::pair<Request, unsigned>> parts; ///< and how many lines
  };
  bool isChange;
  uint8_t sector;
  uint64_t begin; ///< the first block, in the direction of the loop
  std::vector<Shape> shapes;
};

/// A block of lines that one track takes.
struct Core::Unit {
  const Track::Shape *shape;
  const Track *track;
  int64_t period;
  uint64_t block;
  bool isWhole;
  uint64_t setBlock = 0;

  int64_t getTime(unsigned line, int64_t ofPeriod) const {
    return shape->times[line] + period * ofPeriod;
  }
};

/// Periods at once at most, so that memory does not grow with the loop.
static constexpr uint64_t maxUnits = 1 << 14;

/// Lines in the direction of the loop: ascending, and blocks stay blocks.
static uint64_t turned(uint64_t line, bool isUp) { return isUp ? line : ~line; }

/// The requests \p begin to \p end of \p log, by line, as a track. False: they
/// are none.
bool Core::makeTrack(const std::vector<Request> &log,
                     const std::vector<unsigned> &order, size_t begin,
                     size_t end, unsigned bits, Track &track) const {
  bool isUp = int64_t(period.lines) > 0;
  uint64_t lines = isUp ? period.lines : -period.lines;
  if (end - begin != lines)
    return false;
  uint64_t base = turned(log[order[begin]].line, isUp) + lines;
  std::vector<int64_t> number(lines, -1), periodsAhead(lines);
  for (size_t at = begin; at < end; ++at) {
    uint64_t way = turned(log[order[at]].line, isUp) + lines - base;
    if (number[way % lines] >= 0)
      return false;
    number[way % lines] = order[at];
    periodsAhead[way % lines] = int64_t(way / lines);
  }
  const Request &one = log[order[begin]];
  track.isChange = one.kind == Count::writeBacks;
  track.sector = one.sector;
  track.begin = base >> bits;
  uint64_t size = uint64_t(1) << bits;
  for (uint64_t first = track.begin << bits, at = 0; at < lines; at += size) {
    Track::Shape shape = {{}, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, {}};
    for (uint64_t line = first + at; line < first + at + size; ++line) {
      bool isBefore = line < base;
      uint64_t place = (line - base + (isBefore ? lines : 0)) % lines;
      int64_t of = int64_t((line - base + (isBefore ? lines : 0)) / lines) -
                   isBefore - periodsAhead[place];
      int64_t time = of * int64_t(log.size()) + number[place];
      shape.times.push_back(time);
      shape.first = std::min(shape.first, time);
      shape.last = std::max(shape.last, time);
      shape.earliest = std::min(shape.earliest, of);
      shape.latest = std::max(shape.latest, of);
      const Request &request = log[size_t(number[place])];
      auto same = [&](const std::pair<Request, unsigned> &part) {
        return part.first.row == request.row && part.first.kind == request.kind;
      };
      auto part = std::find_if(shape.parts.begin(), shape.parts.end(), same);
      if (part == shape.parts.end())
        part = shape.parts.insert(part, {request, 0});
      ++part->second;
    }
    track.shapes.push_back(std::move(shape));
  }
  return true;
}

/// All of \p log in tracks; none: it cannot be.
std::vector<Core::Track> Core::groupTracks(const std::vector<Request> &log,
                                           unsigned bits) const {
  constexpr uint64_t widest = 16; // lines between those of a track
  std::vector<Track> tracks;
  bool isUp = int64_t(period.lines) > 0;
  std::vector<unsigned> order;
  for (unsigned at = 0; at < log.size(); ++at)
    order.push_back(at);
  auto getKey = [&](unsigned at) {
    return std::make_tuple(log[at].kind == Count::writeBacks, log[at].isZero,
                           log[at].sector, turned(log[at].line, isUp));
  };
  std::sort(order.begin(), order.end(), [&](unsigned one, unsigned other) {
    return getKey(one) < getKey(other);
  });
  for (size_t begin = 0, end; begin < order.size(); begin = end) {
    for (end = begin + 1; end < order.size(); ++end) {
      auto [kind, zero, sector, line] = getKey(order[end]);
      auto [kindBefore, zeroBefore, sectorBefore, lineBefore] =
          getKey(order[end - 1]);
      if (kind != kindBefore || zero != zeroBefore || sector != sectorBefore ||
          line - lineBefore > widest)
        break;
    }
    Track track = {};
    if (log[order[begin]].level ||
        !makeTrack(log, order, begin, end, bits, track))
      return {};
    tracks.push_back(std::move(track));
  }
  return tracks;
}

/// Requests of the tracks in \p periods periods, in order of their begin.
std::vector<Core::Unit> Core::splitUnits(const std::vector<Track> &tracks,
                                         int64_t ofPeriod,
                                         int64_t periods) const {
  std::vector<Unit> units;
  for (const Track &track : tracks)
    for (size_t at = 0; at < track.shapes.size(); ++at) {
      const Track::Shape &shape = track.shapes[at];
      for (int64_t number = -shape.latest; number + shape.earliest < periods;
           ++number)
        units.push_back(
            {&shape, &track, number,
             track.begin + at + uint64_t(number) * track.shapes.size(),
             number + shape.earliest >= 0 && number + shape.latest < periods});
    }
  auto getBegin = [=](const Unit &unit) {
    return unit.shape->first + unit.period * ofPeriod;
  };
  std::sort(units.begin(), units.end(), [=](const Unit &a, const Unit &b) {
    return getBegin(a) < getBegin(b);
  });
  return units;
}

/// \p unit takes all its lines now, if the sets are alike.
bool Core::runWhole(Chain &chain, const Unit &unit, unsigned bits) {
  CacheSets &cache = *chain.levels[0];
  uint64_t set = unit.setBlock << bits;
  if (!cache.isAlike(set))
    return false;
  ++steps;
  uint64_t line = getFirstLine(unit, bits);
  uint64_t result = cache.runAlike(
      {unit.track->isChange ? CacheSets::packChange(line)
                            : cache.getLoad(line, unit.track->sector),
       set});
  if (CacheSets::isMiss(result))
    for (const auto &[request, lines] : unit.shape->parts) {
      Request one = request;
      one.line = line;
      countMisses(one, chain, result, lines);
    }
  return true;
}

/// The least line of a block.
uint64_t Core::getFirstLine(const Unit &unit, unsigned bits) const {
  bool isUp = int64_t(period.lines) > 0;
  return (isUp ? unit.block : ~unit.block) << bits;
}

/// Blocks in the same sets, line by line.
void Core::runLineByLine(Chain &chain, const std::vector<Unit *> &units,
                         const std::vector<Request> &log, int64_t periods,
                         unsigned bits) {
  std::vector<std::pair<int64_t, Request>> all;
  for (const Unit *unit : units)
    for (unsigned at = 0; at >> bits == 0; ++at) {
      int64_t time = unit->getTime(at, int64_t(log.size()));
      if (time < 0 || time >= periods * int64_t(log.size()))
        continue;
      Request request = log[size_t(time) % log.size()];
      bool isUp = int64_t(period.lines) > 0;
      request.line = turned((unit->block << bits) + at, isUp);
      all.emplace_back(time, request);
    }
  std::sort(all.begin(), all.end(), [](const auto &one, const auto &other) {
    return one.first < other.first;
  });
  std::vector<Request> requests;
  for (const auto &[time, request] : all)
    requests.push_back(request);
  answer(chain, requests, nullptr);
}

/// Whether each of \p units is ahead of the next one in all sets.
bool Core::isInOrder(const std::vector<Unit *> &units, int64_t ofPeriod) {
  for (size_t at = 1; at < units.size(); ++at)
    for (unsigned line = 0; line < units[at]->shape->times.size(); ++line)
      if (units[at - 1]->getTime(line, ofPeriod) >=
          units[at]->getTime(line, ofPeriod))
        return false;
  return true;
}

/// All that \p log asks, in \p periods periods, of one chain.
void Core::runPeriods(Chain &chain, std::vector<Unit> units,
                      const std::vector<Request> &log, int64_t periods,
                      unsigned bits) {
  int64_t ofPeriod = int64_t(log.size());
  for (Unit &unit : units)
    unit.setBlock = chain.frames.getSet(getFirstLine(unit, bits)) >> bits;
  std::vector<bool> isDone(units.size());
  std::vector<Unit *> group;
  for (size_t at = 0; at < units.size(); ++at) {
    if (isDone[at])
      continue;
    group.assign(1, &units[at]);
    bool areWhole = units[at].isWhole;
    int64_t last = units[at].shape->last + units[at].period * ofPeriod;
    for (size_t next = at + 1; next < units.size(); ++next) {
      const Unit &other = units[next];
      if (other.shape->first + other.period * ofPeriod > last)
        break;
      if (isDone[next] || other.setBlock != units[at].setBlock)
        continue;
      isDone[next] = true;
      group.push_back(&units[next]);
      areWhole &= other.isWhole;
      last = std::max(last, other.shape->last + other.period * ofPeriod);
    }
    std::sort(group.begin(), group.end(), [=](Unit *one, Unit *other) {
      return one->getTime(0, ofPeriod) < other->getTime(0, ofPeriod);
    });
    if (!areWhole || !isInOrder(group, ofPeriod)) {
      runLineByLine(chain, group, log, periods, bits);
      continue;
    }
    for (Unit *unit : group)
      if (!runWhole(chain, *unit, bits))
        runLineByLine(chain, {unit}, log, periods, bits);
  }
}

/// What \p one asked in the last period, \p periods times more. False: nothing
/// is done.
bool Core::repeatInBlocks(First &one, uint64_t periods) {
  constexpr unsigned minBits = 2;
  unsigned bits = 64;
  for (const Chain *chain : one.chains)
    bits = std::min(bits, chain->blockBits);
  uint64_t lines = std::max(period.lines, -period.lines);
  if (one.chains.empty() || bits < minBits ||
      lines & ((uint64_t(1) << bits) - 1))
    return false;
  std::vector<Request> log = one.log;
  std::vector<Track> tracks = groupTracks(log, bits);
  if (tracks.empty())
    return false;
  letGo(one);
  uint64_t max = maxUnits / (tracks.size() * tracks[0].shapes.size()) + 1;
  for (uint64_t done = 0; done < periods; done += max) {
    uint64_t times = std::min(max, periods - done);
    std::vector<Unit> units =
        splitUnits(tracks, int64_t(log.size()), int64_t(times));
    for (Chain *chain : one.chains)
      runPeriods(*chain, units, log, int64_t(times), bits);
    for (Track &track : tracks)
      track.begin += times * track.shapes.size();
  }
  return true;
}
