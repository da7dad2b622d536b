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

/// The requests of a first cache to the caches after it in a loop's periods.
class Core::BlockRuns {
public:
  /// \p log: of one period; \p bits: of a block's lines.
  BlockRuns(Core &core, std::vector<Request> log, unsigned bits)
      : core(core), log(std::move(log)), bits(bits),
        isUp(int64_t(core.period.lines) > 0),
        lines(isUp ? core.period.lines : -core.period.lines) {}
  /// False: the requests do not form such streams.
  bool findTracks();
  /// The next \p periods, for all \p chains.
  void run(const std::vector<Chain *> &chains, uint64_t periods);

private:
  /// Requests of a period that take one line after another, once each.
  struct Track {
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
  struct Unit {
    const Track::Shape *shape;
    const Track *track;
    int64_t period;
    uint64_t block;
    bool isWhole;
    uint64_t setBlock = 0;
  };

  /// Lines in the direction of the loop: ascending, and blocks stay blocks.
  uint64_t turned(uint64_t line) const { return isUp ? line : ~line; }
  int64_t ofPeriod() const { return int64_t(log.size()); }
  int64_t getTime(const Unit &unit, unsigned line) const {
    return unit.shape->times[line] + unit.period * ofPeriod();
  }
  int64_t getBegin(const Unit &unit) const {
    return unit.shape->first + unit.period * ofPeriod();
  }
  int64_t getEnd(const Unit &unit) const {
    return unit.shape->last + unit.period * ofPeriod();
  }
  /// The least line of a block.
  uint64_t getFirstLine(const Unit &unit) const {
    return (isUp ? unit.block : ~unit.block) << bits;
  }

  bool makeTrack(const std::vector<unsigned> &order, size_t begin, size_t end,
                 Track &track) const;
  Track::Shape makeShape(uint64_t begin, uint64_t base,
                         const std::vector<int64_t> &number,
                         const std::vector<int64_t> &periodsAhead) const;
  std::vector<Unit> splitUnits() const;
  bool isInOrder(const std::vector<Unit *> &units) const;
  bool runWhole(Chain &chain, const Unit &unit);
  void runLineByLine(Chain &chain, const std::vector<Unit *> &units);
  void runChain(Chain &chain, std::vector<Unit> units);

  Core &core;
  const std::vector<Request> log;
  const unsigned bits;
  const bool isUp;
  const uint64_t lines; ///< that all streams go on in a period
  int64_t periods = 0;  ///< of the present call of run()
  std::vector<Track> tracks;
};

/// Periods at once at most, so that memory does not grow with the loop.
static constexpr uint64_t maxUnits = 1 << 14;

/// The block whose first line, in the direction of the loop, is \p begin. \p
/// base: the loop's line in period 0. By line from there: the request that
/// takes it in a period, and how many periods ahead of the others.
Core::BlockRuns::Track::Shape
Core::BlockRuns::makeShape(uint64_t begin, uint64_t base,
                           const std::vector<int64_t> &number,
                           const std::vector<int64_t> &periodsAhead) const {
  Track::Shape shape = {{}, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, {}};
  for (uint64_t line = begin; line < begin + (uint64_t(1) << bits); ++line) {
    bool isBefore = line < base;
    uint64_t way = line - base + (isBefore ? lines : 0), place = way % lines;
    int64_t of = int64_t(way / lines) - isBefore - periodsAhead[place];
    int64_t time = of * ofPeriod() + number[place];
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
  return shape;
}

/// The requests \p begin to \p end of \p order, by line, as a track. False:
/// they are none.
bool Core::BlockRuns::makeTrack(const std::vector<unsigned> &order,
                                size_t begin, size_t end, Track &track) const {
  if (end - begin != lines)
    return false;
  uint64_t base = turned(log[order[begin]].line) + lines;
  std::vector<int64_t> number(lines, -1), periodsAhead(lines);
  for (size_t at = begin; at < end; ++at) {
    uint64_t way = turned(log[order[at]].line) + lines - base;
    if (number[way % lines] >= 0)
      return false;
    number[way % lines] = order[at];
    periodsAhead[way % lines] = int64_t(way / lines);
  }
  const Request &one = log[order[begin]];
  track.isChange = one.kind == Count::writeBacks;
  track.sector = one.sector;
  track.begin = base >> bits;
  for (uint64_t at = 0; at < lines; at += uint64_t(1) << bits)
    track.shapes.push_back(
        makeShape((track.begin << bits) + at, base, number, periodsAhead));
  return true;
}

bool Core::BlockRuns::findTracks() {
  constexpr uint64_t widest = 16; // lines between those of a track
  std::vector<unsigned> order;
  for (unsigned at = 0; at < log.size(); ++at)
    order.push_back(at);
  auto getKey = [&](unsigned at) {
    return std::make_tuple(log[at].kind == Count::writeBacks, log[at].isZero,
                           log[at].sector, turned(log[at].line));
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
    if (log[order[begin]].level || !makeTrack(order, begin, end, track))
      return false;
    tracks.push_back(std::move(track));
  }
  return !tracks.empty();
}

/// Requests of the tracks in the next periods, in order of their begin.
std::vector<Core::BlockRuns::Unit> Core::BlockRuns::splitUnits() const {
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
  std::sort(units.begin(), units.end(), [&](const Unit &a, const Unit &b) {
    return getBegin(a) < getBegin(b);
  });
  return units;
}

/// \p unit takes all its lines now, if the sets are alike.
bool Core::BlockRuns::runWhole(Chain &chain, const Unit &unit) {
  CacheSets &cache = *chain.levels[0];
  uint64_t set = unit.setBlock << bits;
  if (!cache.isAlike(set))
    return false;
  ++core.steps;
  uint64_t line = getFirstLine(unit);
  uint64_t result = cache.runAlike(
      {unit.track->isChange ? CacheSets::packChange(line)
                            : cache.getLoad(line, unit.track->sector),
       set});
  if (CacheSets::isMiss(result))
    for (const auto &[request, count] : unit.shape->parts) {
      Request one = request;
      one.line = line;
      core.countMisses(one, chain, result, count);
    }
  return true;
}

/// Blocks in the same sets, line by line.
void Core::BlockRuns::runLineByLine(Chain &chain,
                                    const std::vector<Unit *> &units) {
  std::vector<std::pair<int64_t, Request>> all;
  for (const Unit *unit : units)
    for (unsigned at = 0; at >> bits == 0; ++at) {
      int64_t time = getTime(*unit, at);
      if (time < 0 || time >= periods * ofPeriod())
        continue;
      Request request = log[size_t(time) % log.size()];
      request.line = turned((unit->block << bits) + at);
      all.emplace_back(time, request);
    }
  std::sort(all.begin(), all.end(), [](const auto &one, const auto &other) {
    return one.first < other.first;
  });
  std::vector<Request> requests;
  for (const auto &[time, request] : all)
    requests.push_back(request);
  core.answer(chain, requests, nullptr);
}

/// Whether each of \p units is ahead of the next one in all sets.
bool Core::BlockRuns::isInOrder(const std::vector<Unit *> &units) const {
  for (size_t at = 1; at < units.size(); ++at)
    for (unsigned line = 0; line < units[at]->shape->times.size(); ++line)
      if (getTime(*units[at - 1], line) >= getTime(*units[at], line))
        return false;
  return true;
}

void Core::BlockRuns::runChain(Chain &chain, std::vector<Unit> units) {
  for (Unit &unit : units)
    unit.setBlock = chain.frames.getSet(getFirstLine(unit)) >> bits;
  std::vector<bool> isDone(units.size());
  std::vector<Unit *> group;
  for (size_t at = 0; at < units.size(); ++at) {
    if (isDone[at])
      continue;
    group.assign(1, &units[at]);
    bool areWhole = units[at].isWhole;
    int64_t last = getEnd(units[at]);
    for (size_t next = at + 1; next < units.size(); ++next) {
      const Unit &other = units[next];
      if (getBegin(other) > last)
        break;
      if (isDone[next] || other.setBlock != units[at].setBlock)
        continue;
      isDone[next] = true;
      group.push_back(&units[next]);
      areWhole &= other.isWhole;
      last = std::max(last, getEnd(other));
    }
    std::sort(group.begin(), group.end(), [&](Unit *one, Unit *other) {
      return getTime(*one, 0) < getTime(*other, 0);
    });
    if (!areWhole || !isInOrder(group)) {
      runLineByLine(chain, group);
      continue;
    }
    for (Unit *unit : group)
      if (!runWhole(chain, *unit))
        runLineByLine(chain, {unit});
  }
}

void Core::BlockRuns::run(const std::vector<Chain *> &chains, uint64_t all) {
  uint64_t max = maxUnits / (tracks.size() * tracks[0].shapes.size()) + 1;
  for (uint64_t done = 0; done < all; done += max) {
    periods = int64_t(std::min(max, all - done));
    std::vector<Unit> units = splitUnits();
    for (Chain *chain : chains)
      runChain(*chain, units);
    for (Track &track : tracks)
      track.begin += uint64_t(periods) * track.shapes.size();
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
  BlockRuns blocks(*this, one.log, bits);
  if (!blocks.findTracks())
    return false;
  letGo(one);
  blocks.run(one.chains, periods);
  return true;
}
